"""Where this server and h11 judge differently on purpose: kind -> (our verdict, reason).

The verdict is "refuse" or "accept". A kind listed here without a single difference is an error, so
the list cannot rot.
"""

EXCEPTIONS = {
    "target form": ("refuse", "RFC 9112 3.2: a target is in origin, absolute, authority or asterisk "
                    "form, each for its methods; h11 takes any visible characters."),
    "target characters": ("refuse", "RFC 3986: these characters stand in a URI only percent-encoded, and "
                          "% needs two digits; h11 takes any visible characters."),
    "bare line feed": ("refuse", "RFC 9112 2.2 lets a recipient take a lone LF as a line end; two parsers "
                       "that disagree about it can be led to different requests."),
    "leading empty lines": ("accept", "RFC 9112 2.2: at least one empty line before a request line "
                            "SHOULD be ignored; h11 refuses it. A lone LF is refused by both."),
    "folding": ("refuse", "RFC 9112 5.2: a server MUST refuse or unfold obsolete line folding; h11 unfolds."),
    "control characters": ("refuse", "RFC 9110 5.5: control characters are invalid in a value; h11 lets "
                           "most of them pass."),
    "host value": ("refuse", "RFC 9112 3.2: a Host with an invalid value is answered 400; h11 does not look."),
    "version": ("refuse", "Another major version is another protocol; answered 505."),
    "bad extension": ("refuse", "RFC 9112 7.1.1 gives extensions a grammar; h11 skips anything behind `;`."),
    "blank behind a size": ("refuse", "RFC 9112 7.1: blanks may stand before `;` only; h11 skips them."),
    "overflowing chunk": ("refuse", "More than 16 hexadecimal digits do not fit 64 bits; h11 takes 20."),
    "huge chunk": ("refuse", "The size alone exceeds the body limit; h11 waits for the data."),
    "chunked in 1.0": ("refuse", "RFC 9112 6.1: Transfer-Encoding in HTTP/1.0 is faulty framing."),
    "empty list element": ("accept", "RFC 9110 5.6.1.2: empty list elements are ignored."),
    "other expectation": ("refuse", "RFC 9110 10.1.1: an unknown expectation may be answered 417."),
    "kept 1.0": ("accept", "RFC 9112 9.3: HTTP/1.0 with keep-alive persists; h11 always closes."),
    "doubled carriage return": ("refuse", "RFC 9112 2.2: a bare CR is invalid; h11 waits for more."),
    "overflowing length": ("refuse", "The number does not fit 64 bits; h11 waits for the data."),
    "blank before an extension": ("accept", "RFC 9112 7.1.1 has BWS before `;`; h11 refuses it."),
    "early junk": ("refuse", "Refused with its first line; h11 waits for the whole head."),
    "preface": ("refuse", "Another major version, refused with its first line; h11 reads it as a request."),
    "both lengths": ("refuse", "RFC 9112 6.1 lets a server refuse them; h11 prefers the coding."),
}
