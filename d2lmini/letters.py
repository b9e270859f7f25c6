"""Kinds of characters, each as the inside of a regular expression's `[…]`."""

# Ideographs, with the signs 々 and 〇 and Japanese kana: what is written without spaces.
HAN = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# The same and full-width punctuation: what takes the width of an ideograph.
WIDE = HAN + "\u3000-\u303f\uff00-\uffef"
# What closes a sentence or a part of it: no line may begin with it.
CLOSING = r",.;:!?)\]’”，。；：！？、）"
