"""Parameters as they are typed; see `studies.parameters`."""

from studies.parameters import key_value_pairs, option_of_place, reader_options, set_parameters

__all__ = ["key_value_pairs", "option_of_place", "reader_options", "set_parameters"]
