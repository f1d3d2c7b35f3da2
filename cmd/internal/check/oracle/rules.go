// The machine-readable rules of docs/differences.md, and their application to both outputs.

package oracle

// The rules by which sdm differs from gdb on purpose. They are in the last column of the table in
// docs/differences.md, which has one row for each difference.

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Rule is one machine-readable form of a difference: how the text of one side is changed before the
// comparison.
type Rule struct {
	Row    string         // name of its difference in the table
	Words  []string       // words that it applies to; empty: all
	Side   string         // "gdb", "sdm" or "both"
	Do     string         // "s", "place", "octal", "setup", "cut", "skip", "end", "free", "off", "split", "any" or "over"
	Match  *regexp.Regexp // of "s" and those after "setup"
	With   string         // of "s" and "setup"
	source string         // text of the rule; with <expr>, the regular expression before it is compiled
}

// Rules are all rules, in the order of the table.
type Rules []Rule

// ReadRules reads the rules from the text of docs/differences.md. A row of the table is
//
//	| name | words | here | reason | `rule` `rule` ... |
//
// Words are separated by commas; "all" means all of them. A rule is one of
//
//	gdb s#REGEX#TEXT#   in gdb's text, TEXT replaces what REGEX matches
//	sdm s#REGEX#TEXT#   the same in sdm's text
//	both s#REGEX#TEXT#  the same in both
//	gdb place           the frame where the rank has stopped is inserted, as "frame" shows it
//	gdb octal           exit codes are converted to decimal numbers
//	setup #COMMAND#     gdb is given COMMAND at the start
//	cut #REGEX#         where REGEX matches the end of a line of sdm, gdb's line must only begin
//	                    with what precedes it
//	skip #REGEX#        lines of a session that REGEX matches are not compared
//	end #REGEX#         the same, and neither are the lines after them
//	free #REGEX#        where REGEX matches gdb's text, sdm's may be anything
//	off #REGEX#         where REGEX matches gdb's text, no line after it is compared
//	split #REGEX#       where REGEX matches sdm's text for some ranks and not for others, no line
//	                    after it is compared
//	any #REGEX#         where REGEX matches sdm's text, gdb's may be anything
//	over #REGEX#        where REGEX matches sdm's text, the rank is not compared after it
//
// Any character may replace #, except in setup. <expr> in a REGEX is the text after the word,
// without its format.
func ReadRules(in io.Reader) (Rules, error) {
	var all Rules
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		cells := cellsOf(lines.Text())
		if len(cells) != 5 || cells[0] == "difference" || strings.Trim(cells[0], "-") == "" {
			continue
		}
		rules, err := rulesOf(cells)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		all = append(all, rules...)
	}
	return all, lines.Err()
}

// cellsOf splits a row of a table at the bars without a backslash; nil for other lines.
func cellsOf(line string) []string {
	if !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") {
		return nil
	}
	const bar = "\x00"
	cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "|"), `\|`, bar), "|")
	for i := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), bar, "|")
	}
	return cells
}

var spans = regexp.MustCompile("`([^`]+)`")

// rulesOf returns the rules of a row.
func rulesOf(cells []string) (Rules, error) {
	var words []string
	for _, w := range strings.Split(cells[1], ",") {
		if w = strings.Trim(w, " `"); w != "all" {
			words = append(words, w)
		}
	}
	for _, w := range words {
		if _, ok := Words[w]; !ok && spans.MatchString(cells[4]) {
			return nil, fmt.Errorf("%s: there is no word %q", cells[0], w)
		}
	}
	var all Rules
	for _, m := range spans.FindAllStringSubmatch(cells[4], -1) {
		r := Rule{Row: cells[0], Words: words, source: m[1]}
		if err := r.parse(m[1]); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", cells[0], m[1], err)
		}
		all = append(all, r)
	}
	return all, nil
}

// parse reads the text of a rule.
func (r *Rule) parse(text string) error {
	first, rest, _ := strings.Cut(text, " ")
	switch {
	case text == "gdb place" || text == "gdb octal":
		r.Side, r.Do = "gdb", rest
		return nil
	case first == "setup":
		r.Do, r.With = first, strings.Trim(rest, "#")
		return nil
	case slices.Contains([]string{"skip", "end", "any", "over", "free", "off", "split", "cut"}, first):
		r.Do = first
		return r.pattern(rest, 1)
	case (first == "gdb" || first == "sdm" || first == "both") && strings.HasPrefix(rest, "s"):
		r.Side, r.Do = first, "s"
		return r.pattern(rest[1:], 2)
	}
	return fmt.Errorf("no rule begins so")
}

// pattern reads #REGEX# or #REGEX#TEXT#.
func (r *Rule) pattern(text string, parts int) error {
	if text == "" {
		return fmt.Errorf("a pattern is missing")
	}
	found := strings.Split(text[1:], text[:1])
	if len(found) != parts+1 || found[parts] != "" {
		return fmt.Errorf("not %d texts between %s", parts, text[:1])
	}
	if parts == 2 {
		r.With = strings.ReplaceAll(found[1], `\n`, "\n")
	}
	if strings.Contains(found[0], "<expr>") {
		r.source = found[0]
		return nil
	}
	var err error
	r.Match, err = regexp.Compile("(?m)" + found[0])
	return err
}

// covers reports whether the rule applies to a word.
func (r Rule) covers(word string) bool { return len(r.Words) == 0 || slices.Contains(r.Words, word) }

// match returns the expression for one line of a session.
func (r Rule) match(l Line) *regexp.Regexp {
	if r.Match != nil {
		return r.Match
	}
	return regexp.MustCompile("(?m)" + strings.ReplaceAll(r.source, "<expr>", regexp.QuoteMeta(l.expr())))
}

// expr returns the text after the word, without its format.
func (l Line) expr() string {
	rest := strings.TrimSpace(strings.TrimPrefix(l.Text, l.Word))
	if strings.HasPrefix(rest, "/") {
		_, rest, _ = strings.Cut(rest, " ")
	}
	return strings.TrimSpace(rest)
}

// apply returns the text of one side in the form in which both are compared.
func (rs Rules) apply(l Line, side string, b Block) string {
	text := b.Text
	for _, r := range rs {
		if !r.covers(l.Word) || r.Side != side && r.Side != "both" {
			continue
		}
		switch r.Do {
		case "place":
			text = placed(text, b.At)
		case "octal":
			text = exitCode.ReplaceAllStringFunc(text, decimal)
		case "s":
			text = r.match(l).ReplaceAllString(text, r.With)
		}
	}
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c == '\n' }), "\n")
}

// setup returns the commands that gdb is given at the start.
func (rs Rules) setup() []string {
	var lines []string
	for _, r := range rs {
		if r.Do == "setup" {
			lines = append(lines, r.With)
		}
	}
	return lines
}

// uncut replaces truncated lines of sdm by gdb's.
func (rs Rules) uncut(l Line, gdb, sdm string) string {
	theirs, ours := strings.Split(gdb, "\n"), strings.Split(sdm, "\n")
	for _, r := range rs {
		if r.Do != "cut" || !r.covers(l.Word) || len(theirs) != len(ours) {
			continue
		}
		for i, line := range ours {
			if at := r.match(l).FindStringIndex(line); at != nil && strings.HasPrefix(theirs[i], line[:at[0]]) {
				ours[i] = theirs[i]
			}
		}
	}
	return strings.Join(ours, "\n")
}

// leaves reports whether a line is not compared ("skip"), or ends the comparison ("end").
func (rs Rules) leaves(l Line, do string) bool {
	return slices.ContainsFunc(rs, func(r Rule) bool {
		return r.Do == do && r.covers(l.Word) &&
			r.match(l).MatchString(l.Text)
	})
}

// fits reports whether a rule matches a text.
func (rs Rules) fits(do string, l Line, said string) bool {
	return slices.ContainsFunc(rs, func(r Rule) bool {
		return r.Do == do && r.covers(l.Word) &&
			r.match(l).MatchString(said)
	})
}

// splits reports whether a "split" rule matches the text of some ranks only.
func (rs Rules) splits(l Line, told *Told, i int) bool {
	fit := 0
	for _, blocks := range told.Ranks {
		if rs.fits("split", l, blocks[i].Text) {
			fit++
		}
	}
	return fit != 0 && fit != len(told.Ranks)
}

// decimal turns "exited with code 010" into "exited with code 8".
func decimal(text string) string {
	code, err := strconv.ParseInt(text[len("exited with code "):], 8, 32)
	if err != nil {
		return text
	}
	return "exited with code " + strconv.FormatInt(code, 10)
}

var (
	exitCode   = regexp.MustCompile(`exited with code 0[0-7]+`)
	sourceLine = regexp.MustCompile(`^(0x[0-9a-f]+ <.*>:)?(0x[0-9a-f]+\t)?\d+\t`)
	frameLine  = regexp.MustCompile(`^#\d+ +`)
)

// placed inserts the answer to "frame" before the source line, if gdb has not shown the frame
// already.
func placed(text, at string) string {
	if !strings.HasPrefix(at, "#") {
		return text
	}
	frame := strings.Split(frameLine.ReplaceAllString(at, ""), "\n")
	lines := strings.Split(text, "\n")
	i := slices.IndexFunc(lines, sourceLine.MatchString)
	if i < 0 {
		return text
	}
	if i > 0 && strings.HasSuffix(lines[i-1], frame[0]) {
		return text
	}
	return strings.Join(slices.Insert(lines, i, frame[0]), "\n")
}
