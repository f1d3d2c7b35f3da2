// The arguments of words that restart programs.

package language

import "strings"

// The arguments of words that start programs again.

// startsAt are the places of the first stop, by word.
var startsAt = map[string]string{"start": "main", "starti": "entry"}

func parseRun(c *Command) *Mistake {
	c.Args.Location = startsAt[c.Name]
	if c.Rest == "" {
		return nil
	}
	words, ok := shellWords(c.Rest)
	if !ok {
		return &Mistake{Text: c.Name + ": a quote is not closed"}
	}
	if i := strings.IndexAny(words[0], "<>|"); i == 0 {
		return &Mistake{Text: c.Name + ": there is no shell between us and the program", Hint: "--stdin-file, or send"}
	}
	c.Args.Arguments = words
	return nil
}

// shellWords splits a line as a shell does, with quotes and backslashes. ok is false if a quote is
// not closed.
func shellWords(line string) (words []string, ok bool) {
	var word strings.Builder
	begun, within := false, byte(0)
	for i := 0; i < len(line); i++ {
		b := line[i]
		switch {
		case b == '\\' && i+1 < len(line) && (within == 0 || within == '"' && strings.IndexByte(`"\`, line[i+1]) >= 0):
			i++
			word.WriteByte(line[i])
			begun = true
		case within != 0 && b == within:
			within = 0
		case within == 0 && (b == '"' || b == '\''):
			within, begun = b, true
		case within == 0 && strings.IndexByte(blanks, b) >= 0:
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteByte(b)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, within == 0
}
