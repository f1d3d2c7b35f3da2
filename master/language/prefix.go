// The prefixes of a command: its ranks and its wait.

package language

import (
	"strconv"
	"strings"
	"time"
)

// The prefixes of a command: its ranks and its wait.

// parsePrefixes cuts off "[SET]" and "wait=DURATION", each once, in any order.
func parsePrefixes(c *Command, line string) (string, *Mistake) {
	for {
		line = strings.TrimLeft(line, blanks)
		switch {
		case strings.HasPrefix(line, "[") && c.Set == "":
			set, rest, m := cutSet(line)
			if m != nil {
				return "", m
			}
			if ranks, thread, ok := cutThread(set); ok {
				set, c.Thread = ranks, thread
			}
			c.Set, line = set, rest
		case strings.HasPrefix(line, "wait=") && c.Wait == 0:
			text, rest := cutBlank(line[len("wait="):])
			wait, m := parseWaitTime(text)
			if m != nil {
				return "", m
			}
			c.Wait, line = wait, rest
		default:
			return line, nil
		}
	}
}

// cutSet cuts off "[SET]". Brackets, braces and parentheses within it must match; within those,
// quoted text may contain any characters.
func cutSet(line string) (set, rest string, m *Mistake) {
	var open []byte
	var within byte
	for i := 0; i < len(line); i++ {
		b := line[i]
		switch {
		case within != 0:
			if b == '\\' {
				i++
			} else if b == within {
				within = 0
			}
		case (b == '"' || b == '\'') && len(open) > 1:
			within = b
		case b == '[' || b == '{' || b == '(':
			open = append(open, b+closing(b))
		case b == ']' || b == '}' || b == ')':
			if open[len(open)-1] != b {
				return "", "", &Mistake{"the rank set " + quote(line[:i+1]) + " is not closed where it should be", "a set is [0-3,7], for example"}
			}
			open = open[:len(open)-1]
			if len(open) == 0 {
				return checkSet(strings.Trim(line[1:i], blanks), line[i+1:])
			}
		}
	}
	return "", "", &Mistake{"the rank set " + quote(line) + " is not closed", "a set is [0-3,7], for example"}
}

// closing returns the distance in ASCII from an opening bracket to its closing one.
func closing(b byte) byte {
	if b == '(' {
		return 1
	}
	return 2
}

func checkSet(set, rest string) (string, string, *Mistake) {
	if set == "" {
		return "", "", &Mistake{"the rank set [] is empty", "all ranks are [all]"}
	}
	return set, strings.TrimLeft(rest, blanks), nil
}

// parseWaitTime reads a duration as Go writes it, or a number of seconds; 0 and none are NoLimit.
func parseWaitTime(text string) (time.Duration, *Mistake) {
	if text == "none" {
		return NoLimit, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		var seconds uint64
		if seconds, err = strconv.ParseUint(text, 10, 32); err == nil {
			d = time.Duration(seconds) * time.Second
		}
	}
	switch {
	case err != nil:
		return 0, &Mistake{quote(text) + " is not a duration", "500ms, 2s, 1m30s, none"}
	case d < 0:
		return 0, &Mistake{"the duration " + text + " is negative", "500ms, 2s, 1m30s, none"}
	case d == 0:
		return NoLimit, nil
	}
	return d, nil
}
