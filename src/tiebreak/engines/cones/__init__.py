"""Two levels over sets with curved boundaries: balls, spectrahedra."""
