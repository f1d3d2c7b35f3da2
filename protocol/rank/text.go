// The canonical text of a set: "0-3,7".

package rank

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// String returns the canonical text: "0-3,7", "" when the set is empty.
func (s Set) String() string { return string(s.appendText(nil)) }

func (s Set) appendText(b []byte) []byte {
	start := len(b)
	for first, last := range s.Ranges() {
		if len(b) > start {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(first), 10)
		if last > first {
			b = append(b, '-')
			b = strconv.AppendInt(b, int64(last), 10)
		}
	}
	return b
}

// MarshalText returns the canonical text; the JSON form is that text as a string.
func (s Set) MarshalText() ([]byte, error) { return s.appendText([]byte{}), nil }

// UnmarshalText parses ranks and ranges, "0-3,7", in any order. Parse parses what
// users type.
func (s *Set) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*s = Set{}
		return nil
	}
	var list []run
	for part := range strings.SplitSeq(string(b), ",") {
		r, err := parseRun(part)
		if err != nil {
			return fmt.Errorf("rank set %q: %w", clip(string(b)), err)
		}
		list = append(list, r)
	}
	*s = fromRuns(normalize(list))
	return nil
}

// parseRun parses "7" or "0-3".
func parseRun(text string) (run, error) {
	low, high, both := strings.Cut(text, "-")
	first, err := parseID(low)
	if err != nil || !both {
		return run{first, first + 1}, err
	}
	last, err := parseID(high)
	if err != nil {
		return run{}, err
	}
	if last < first {
		return run{}, fmt.Errorf("range %d-%d runs backwards; write %d-%d", first, last, last, first)
	}
	return run{first, last + 1}, nil
}

// parseID parses a rank of at most MaxID: only digits.
func parseID(text string) (uint32, error) {
	if text == "" {
		return 0, errors.New("expected a rank; write ranks and ranges, as in 0-3,7")
	}
	n := 0
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%q is not a rank; write ranks and ranges, as in 0-3,7", clip(text))
		}
		if n = n*10 + int(c-'0'); n > int(MaxID) {
			return 0, fmt.Errorf("rank %s is beyond %d, the highest possible", clip(text), MaxID)
		}
	}
	return uint32(n), nil
}

// clip truncates a text for an error, which is one line.
func clip(text string) string {
	const most = 60
	if len(text) > most {
		end := most
		for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "..."
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
