"""What Ascend cards need to find each other: rank tables, the cards' addresses, the toolkit's variables.

Standard library alone, like the rest of the launcher; a notebook's kernel uses the same functions.
"""
