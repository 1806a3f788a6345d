"""Who used how much: requests and tokens by caller and model."""
