"""The order in which the statements of a function run, and what decides whether they do."""
