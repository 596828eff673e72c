"""The methods that come with redelve."""
