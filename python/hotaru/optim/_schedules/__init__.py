"""Schedules of learning rates: `lr_scheduler` offers them."""
