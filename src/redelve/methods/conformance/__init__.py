"""Does a method keep to the contract? Checks that anyone can run on a method of their own."""
