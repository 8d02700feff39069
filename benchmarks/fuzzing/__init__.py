"""Files that are spoilt in many ways, and what happens to those who read them."""
