package oracle

// The rules by which sdm differs from gdb on purpose. They stand in the table of
// docs/differences.md, one row a difference, in the last column.

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Rule is one machine-readable form of a difference: what the texts of one side
// are changed to before they are compared.
type Rule struct {
	Row    string         // the difference it belongs to, as the table names it
	Words  []string       // for which words; empty is all
	Side   string         // "gdb", "sdm" or "both"
	Do     string         // "s", "place", "octal", "setup", "cut", "skip", "end", "free", "off", "split", "any" or "over"
	Match  *regexp.Regexp // of "s" and those behind "setup"
	With   string         // of "s" and "setup"
	source string
}

// Rules are all rules, in the order of the table.
type Rules []Rule

// ReadRules reads the rules off the text of docs/differences.md. A row of the
// table is
//
//	| name | words | here | reason | `rule` `rule` ... |
//
// Words are separated by commas, "all" is all of them. A rule is one of
//
//	gdb s#REGEX#TEXT#   in what gdb says, TEXT replaces what REGEX fits
//	sdm s#REGEX#TEXT#   the same in what sdm says
//	both s#REGEX#TEXT#  the same in both
//	gdb place           the place where the rank stands is what "frame" says
//	gdb octal           exit codes are turned into decimal numbers
//	setup #COMMAND#     gdb is given COMMAND at first
//	cut #REGEX#         where REGEX fits the end of a line of sdm's, gdb's line need
//	                    only begin as what stands before that
//	skip #REGEX#        lines of a session that REGEX fits are not compared
//	end #REGEX#         nor is what comes behind them
//	free #REGEX#        where REGEX fits what gdb says, sdm may say anything
//	off #REGEX#         where REGEX fits what gdb says, nothing behind it is compared
//	split #REGEX#       where REGEX fits what sdm says to some ranks and not to others,
//	                    nothing behind it is compared
//	any #REGEX#         where REGEX fits what sdm says, gdb may say anything
//	over #REGEX#        where REGEX fits what sdm says, the rank is not compared behind it
//
// Any sign may stand in place of #. <expr> in a REGEX is the text behind the
// word, without its format.
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

// cellsOf takes a row of a table apart at the bars that have no backslash in
// front; nil for another line.
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

func (r Rule) covers(word string) bool { return len(r.Words) == 0 || slices.Contains(r.Words, word) }

// match gives the pattern for one line of a session.
func (r Rule) match(l Line) *regexp.Regexp {
	if r.Match != nil {
		return r.Match
	}
	return regexp.MustCompile("(?m)" + strings.ReplaceAll(r.source, "<expr>", regexp.QuoteMeta(l.expr())))
}

// expr gives the text behind the word, without its format.
func (l Line) expr() string {
	rest := strings.TrimSpace(strings.TrimPrefix(l.Text, l.Word))
	if strings.HasPrefix(rest, "/") {
		_, rest, _ = strings.Cut(rest, " ")
	}
	return strings.TrimSpace(rest)
}

// apply gives the text of one side in the words that both are compared in.
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

// setup gives the commands that gdb is given at first.
func (rs Rules) setup() []string {
	var lines []string
	for _, r := range rs {
		if r.Do == "setup" {
			lines = append(lines, r.With)
		}
	}
	return lines
}

// uncut completes the lines of sdm that say that they are cut off by gdb's.
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

// leaves tells whether a line is not compared, or even nothing behind it.
func (rs Rules) leaves(l Line, do string) bool {
	return slices.ContainsFunc(rs, func(r Rule) bool { return r.Do == do && r.covers(l.Word) && r.match(l).MatchString(l.Text) })
}

// fits tells whether a rule fits what was said.
func (rs Rules) fits(do string, l Line, said string) bool {
	return slices.ContainsFunc(rs, func(r Rule) bool { return r.Do == do && r.covers(l.Word) && r.match(l).MatchString(said) })
}

// splits tells whether a rule fits what was said to some ranks only.
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

// placed puts what "frame" says of a stop where gdb shows the place of it, in
// full or in part.
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
