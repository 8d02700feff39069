"""What several methods share; each method has a file of its own one folder up."""
