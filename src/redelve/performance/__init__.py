"""Predicting performance: how well will a trained classifier do on new cases, and how sure is that?"""
