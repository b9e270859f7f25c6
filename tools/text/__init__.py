"""What is checked in the text of the notebooks."""
