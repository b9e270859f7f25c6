"""Whether the notebooks print the same elsewhere: other digits, a GPU, Colab."""
