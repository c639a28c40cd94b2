"""What the command `aiopt` is made of: its flags, and what it does with a file."""
