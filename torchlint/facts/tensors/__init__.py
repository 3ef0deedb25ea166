"""What an expression is: a tensor or something else, its element type, its dimensions, its values."""
