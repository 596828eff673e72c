"""Whatever a user has as a method: scikit-learn estimators, functions, programs."""
