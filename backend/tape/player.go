// A player of one tape.

package tape

import (
	"slices"
	"strings"
)

// player plays a tape. It is pure: its inputs are commands, its outputs are lines of gdb.
type player struct {
	lines    []Line
	received []bool            // whether the command of each line has been received
	at       int               // the first line that has not been played
	tokens   map[string]string // from tokens of the tape to tokens of the commands
	names    names
	over     bool
}

func newPlayer(lines []Line, n names) *player {
	return &player{lines: lines, received: make([]bool, len(lines)), tokens: map[string]string{}, names: n}
}

// start returns the lines before the first command.
func (p *player) start() []Line { return p.play() }

// repeated are the commands that the engine sends repeatedly to a gdb that is slow to stop
// threads. Their number depends on time, and differs between recording and playing.
var repeated = []string{"-exec-interrupt", "-list-thread-groups"}

func isRepeated(command string) bool {
	_, text := withoutToken(command)
	return slices.ContainsFunc(repeated, func(r string) bool { return strings.HasPrefix(text, r) })
}

// skipped reports whether the next command will not be received: it is one of repeated, and a later one
// has been received.
func (p *player) skipped() bool {
	return isRepeated(p.lines[p.at].Text) && slices.Contains(p.received[p.at:], true)
}

// take returns the lines of gdb after a command. A command that is not on the tape is answered with
// an error, except the commands in repeated, which succeed.
func (p *player) take(command string) []Line {
	token, text := withoutToken(strings.TrimSpace(command))
	if i := p.find(text); i >= 0 {
		p.received[i] = true
		recorded, _ := withoutToken(p.lines[i].Text)
		p.tokens[recorded] = token
		return p.play()
	}
	if isRepeated(text) {
		return []Line{{Output, token + "^done"}, {Output, "(gdb) "}}
	}
	message := "the tape has no " + text + ": record it again"
	return []Line{{Errors, message}, {Output, token + `^error,msg="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(message) + `"`}}
}

// find returns the index of the first command on the tape with this text that has not been received yet, -1
// if there is none.
func (p *player) find(text string) int {
	for i := p.at; i < len(p.lines); i++ {
		l := p.lines[i]
		if l.Kind != Command || p.received[i] {
			continue
		}
		_, recorded := withoutToken(l.Text)
		if p.names.show(recorded) == text || p.binds(recorded, text) {
			return i
		}
	}
	return -1
}

// binds reports whether a command attaches to a process that has no text yet for its name on the
// tape; then it gets the process of the command.
func (p *player) binds(recorded, text string) bool {
	unknown := name.FindString(p.names.show(recorded))
	found := attach.FindStringSubmatch(text)
	if unknown == "" || found == nil || strings.TrimSuffix(recorded, unknown) != strings.TrimSuffix(text, found[1]) {
		return false
	}
	p.names[unknown[2:len(unknown)-1]] = found[1]
	return true
}

// play returns the lines up to the next command that has not been received.
func (p *player) play() []Line {
	var out []Line
	for ; p.at < len(p.lines) && !p.over; p.at++ {
		l := p.lines[p.at]
		switch l.Kind {
		case Command:
			if !p.received[p.at] && !p.skipped() {
				return out
			}
			continue
		case Remark:
			continue
		case Output:
			recorded, rest := withoutToken(l.Text)
			if strings.HasPrefix(rest, "^") && recorded != "" {
				token, ok := p.tokens[recorded]
				if !ok {
					continue // of a command that was skipped
				}
				l.Text = token + rest
			}
		case End:
			p.over = true
		}
		l.Text = p.names.show(l.Text)
		out = append(out, l)
	}
	return out
}
