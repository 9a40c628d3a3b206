package cupcake.helpers.shop_text

import rego.v1

starts_with_word(text, word) if text == word

starts_with_word(text, word) if startswith(text, concat("", [word, " "]))
