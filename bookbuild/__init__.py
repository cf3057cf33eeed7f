"""What builds the book. No notebook imports it, and `pip install .` leaves it out."""
