"""The interference predictor measured: constant, ridge and network on seen and on unseen pairs of classes."""
