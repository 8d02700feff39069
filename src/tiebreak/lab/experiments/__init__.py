"""The problems the library is shown on."""
