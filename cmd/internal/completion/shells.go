// The shells: what sdm completion prints for each, and how each asks and is answered.

package completion

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
)

//go:embed sdm.bash
var bashScript string

//go:embed sdm.zsh
var zshScript string

//go:embed sdm.fish
var fishScript string

// Script returns what a shell reads to complete command lines of sdm.
func Script(shell string) (text string, known bool) {
	text, known = map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[shell]
	return text, known
}

// Shells are the names of the shells, for messages.
const Shells = "bash, zsh, fish"

// Query is a question of a shell. Words are those after the name of sdm, up to the cursor.
type Query struct {
	Words []string
	shell string
	begin []int // bash: for each word, and the name of sdm, the first of bash's words that it is made of
	cut   int   // bytes in front of a candidate that bash wants to be left out
}

// Ask reads the arguments of a question: the name of the shell, and what its script adds. They are from our scripts, so
// that an error is of somebody who types them.
func Ask(args []string) (q Query, err error) {
	if len(args) == 0 {
		return q, fmt.Errorf("which shell asks? (%s)", Shells)
	}
	q.shell = args[0]
	switch words := args[1:]; {
	case q.shell == "bash" && len(words) > 4:
		point, wrong := strconv.Atoi(words[1])
		current, worse := strconv.Atoi(words[2])
		if wrong != nil || worse != nil {
			return q, fmt.Errorf("bash: %q and %q are no numbers", words[1], words[2])
		}
		q.bash(words[0], point, current, words[3], words[4:])
	case (q.shell == "zsh" || q.shell == "fish") && len(words) > 0:
		q.Words = words
	default:
		return q, fmt.Errorf("%s asks with other arguments (shells are %s)", q.shell, Shells)
	}
	return q, nil
}

// bash joins what bash has parted at its breaks: --format=text is three words to it. line is the whole line, point is
// where the cursor is in it, current is the number of the word there, and words[0] is sdm.
func (q *Query) bash(line string, point, current int, breaks string, words []string) {
	line = line[:max(0, min(point, len(line)))]
	var joined []string
	at := 0 // in line, behind the last word
	for i, word := range words[:max(0, min(current+1, len(words)))] {
		start := strings.Index(line[at:], word)
		if word == "" || start < 0 { // the cursor is before its end
			start = len(line[at:]) - len(strings.TrimLeft(line[at:], " \t"))
			word = line[at+start:]
		}
		if start == 0 && i > 0 && word != "" {
			joined[len(joined)-1] += word
		} else {
			joined, q.begin = append(joined, word), append(q.begin, i)
		}
		at += start + len(word)
	}
	if len(joined) < 2 {
		joined, q.begin = append(joined, ""), append(q.begin, current)
	}
	q.Words = joined[1:]
	q.cut = strings.LastIndexAny(joined[len(joined)-1], breaks) + 1
}

// Write answers as the scripts read it: a line with the kind, then one for each candidate.
func (q Query) Write(w io.Writer, a Answer) error {
	var b strings.Builder
	b.WriteString(string(a.Kind))
	if a.Kind == Program {
		n := a.Program
		if n < len(q.begin) {
			n = q.begin[n]
		}
		fmt.Fprintf(&b, " %d", n)
	}
	b.WriteByte('\n')
	for _, c := range a.Candidates {
		about := strings.Map(func(r rune) rune {
			if r < ' ' {
				return ' '
			}
			return r
		}, c.About)
		switch q.shell {
		case "bash":
			b.WriteString(c.Text[min(q.cut, len(c.Text)):])
		case "zsh":
			b.WriteString(strings.ReplaceAll(c.Text, ":", `\:`) + ":" + about)
		default:
			b.WriteString(c.Text + "\t" + about)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
