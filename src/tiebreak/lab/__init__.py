"""The laboratory: experiments, the paper reproduced, methods compared, pages. Nothing in the library imports it."""
