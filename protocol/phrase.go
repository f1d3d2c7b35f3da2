// Parts of messages.

package protocol

import (
	"unicode/utf8"

	"sdm/protocol/rank"
)

// maxClipped is the number of bytes of a text that Clip keeps.
const maxClipped = 60

// Clip shortens a text for an error message of one line, between two characters.
func Clip(text string) string {
	if len(text) <= maxClipped {
		return text
	}
	end := maxClipped
	for end > maxClipped-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}

// Ranks names ranks in a message: "rank 3", "ranks 0-2,7".
func Ranks(s rank.Set) string {
	if s.Len() == 1 {
		return "rank " + s.String()
	}
	return "ranks " + s.String()
}

// ChangesDirection reports whether a character changes the direction of the text that follows, which could make a line
// look like another one (Unicode Standard Annex 9, explicit embeddings, overrides and isolates).
func ChangesDirection(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
