"""What every check is made with: how it registers, what it is shown, how it answers and quotes."""
