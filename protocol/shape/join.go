// Text of a template with its leaves, for users.

package shape

import (
	"strconv"
	"strings"
)

// fewest is the number of equal elements from which gdb prints a count: its setting
// print repeats.
const fewest = 10

// Join returns the text of a template with other leaves, one for each mark. Equal
// elements are counted as gdb counts them.
func Join(template string, leaves []string) string {
	j := joiner{template: template, leaves: leaves}
	return j.element()
}

// joiner processes a template from left to right.
type joiner struct {
	template string
	at       int
	leaves   []string
}

// element returns the text of an element, up to the next one of its list or the end
// of the list.
func (j *joiner) element() string {
	var b strings.Builder
	for j.at < len(j.template) {
		c := j.template[j.at]
		switch c {
		case elementMark, closeMark:
			return b.String()
		case leafMark:
			b.WriteString(j.leaves[0])
			j.leaves = j.leaves[1:]
			j.at++
		case openMark:
			fortran := j.at > 0 && j.template[j.at-1] == '('
			j.at++
			j.list(&b, fortran)
		default:
			b.WriteByte(c)
			j.at++
		}
	}
	return b.String()
}

// list writes the elements of a list.
func (j *joiner) list(b *strings.Builder, fortran bool) {
	last, times, comma := j.element(), 1, ""
	for {
		more := j.at < len(j.template) && j.template[j.at] == elementMark
		next, nextComma := "", ""
		if more {
			j.at++
			nextComma = j.comma()
			next = j.element()
			if next == last {
				times++
				continue
			}
		}
		b.WriteString(comma)
		writeTimes(b, last, times, comma, fortran)
		if !more {
			break
		}
		last, times, comma = next, 1, nextComma
	}
	if j.at < len(j.template) { // closeMark
		j.at++
	}
}

// comma consumes the comma before an element and the blanks after it.
func (j *joiner) comma() string {
	rest := j.template[j.at:]
	n := len(rest) - len(strings.TrimLeft(strings.TrimPrefix(rest, ","), " \n"))
	j.at += n
	return rest[:n]
}

// writeTimes writes an element times times.
func writeTimes(b *strings.Builder, element string, times int, comma string, fortran bool) {
	b.WriteString(element)
	switch count := "<repeats " + strconv.Itoa(times) + " times>"; {
	case times >= fewest && fortran:
		b.WriteString(", " + count)
	case times >= fewest:
		b.WriteString(" " + count)
	default:
		if comma == "" {
			comma = ", "
		}
		for range times - 1 {
			b.WriteString(comma + element)
		}
	}
}
