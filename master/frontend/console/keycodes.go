// What the keys of a terminal send.

package console

import (
	"slices"

	"github.com/chzyer/readline"
)

// deleteKey is what keyDecoder returns for the Delete key. The readline library has one code for it
// and Ctrl-D, and takes that for the end of the input if the line is empty. No key sends it.
const deleteKey = 0

// keyDecoder translates what a terminal sends to what the readline library is told: characters, and
// control characters that edit. Keys without a meaning here are dropped, where the library would
// insert parts of what they send, or take them for the end of the input (Ctrl-Space).
//
// Sequences are from ECMA-48 (5.4: ESC [ parameters, a final byte), of xterm (ESC O and a letter,
// modifiers as the second parameter), and of Linux's console (ESC [ [ A for F1). The zero value
// expects a key.
type keyDecoder struct {
	state  keyState
	params []byte // of a sequence
	skip   int    // bytes to drop: a position of the mouse, the last letter of a function key
}

// keyState is what the bytes before were.
type keyState int

const (
	atKey      keyState = iota
	afterESC            // ESC
	inSequence          // ESC [, and parameters
	inSS3               // ESC O, and modifiers
	afterC2             // the first byte of U+0080 to U+00BF in UTF-8
	inRune              // within a character after ESC
)

// maxParams bounds the parameters of a sequence that are kept, in bytes; no key has more.
const maxParams = 32

// step takes the next byte and appends what the library is told.
func (d *keyDecoder) step(to []byte, b byte) []byte {
	if d.skip > 0 {
		d.skip--
		return to
	}
	state := d.state
	d.state = atKey
	switch {
	case state == afterC2 && b >= 0x80 && b < 0xa0: // C1 control characters
		return to
	case state == afterC2:
		return d.key(append(to, 0xc2), b)
	case state == inRune && b >= 0x80 && b < 0xc0:
		d.state = inRune
		return to
	case b < ' ', state == atKey, state == inRune: // a control character ends a sequence
		return d.key(to, b)
	case state == afterESC:
		return d.escaped(to, b)
	case b > '~': // no part of a sequence
		return d.key(to, b)
	case b < '@':
		if d.state = state; len(d.params) < maxParams {
			d.params = append(d.params, b)
		}
		return to
	case state == inSequence && len(d.params) == 0 && b == '[':
		d.skip = 1
		return to
	case state == inSequence && len(d.params) == 0 && b == 'M': // button, column, line
		d.skip = 3
		return to
	}
	return append(to, editing(string(d.params), b)...)
}

// key takes a byte that belongs to no sequence.
func (d *keyDecoder) key(to []byte, b byte) []byte {
	switch {
	case b == readline.CharEsc:
		d.state = afterESC
	case b == 0xc2:
		d.state = afterC2
	case b >= ' ' || slices.Contains(editors, b):
		return append(to, b)
	}
	return to
}

// editors are the control characters that the library has a use for.
var editors = []byte{
	readline.CharLineStart, readline.CharBackward, readline.CharInterrupt, readline.CharDelete, readline.CharLineEnd,
	readline.CharForward, readline.CharBell, readline.CharCtrlH, readline.CharTab, readline.CharCtrlJ, readline.CharKill,
	readline.CharCtrlL, readline.CharEnter, readline.CharNext, readline.CharPrev, readline.CharBckSearch,
	readline.CharFwdSearch, readline.CharTranspose, readline.CharCtrlU, readline.CharCtrlW, readline.CharCtrlY,
	readline.CharCtrlZ,
}

// escaped takes the byte after ESC: a sequence begins, or it is a key with Alt.
func (d *keyDecoder) escaped(to []byte, b byte) []byte {
	d.params = d.params[:0]
	switch b {
	case '[':
		d.state = inSequence
	case 'O':
		d.state = inSS3
	case 'b', 'f', 'd', readline.CharBackspace: // by word
		return append(to, readline.CharEsc, b)
	default:
		if b >= 0xc0 {
			d.state = inRune
		}
	}
	return to
}

// editing returns what the library is told for a sequence; nothing if it has no meaning.
func editing(params string, final byte) []byte {
	word := slices.Contains([]string{"1;3", "1;5", "3", "5", "3;3", "3;5"}, params) // with Alt or Control
	switch {
	case final == 'C' && word:
		return []byte{readline.CharEsc, 'f'}
	case final == 'D' && word:
		return []byte{readline.CharEsc, 'b'}
	case final == '~' && (params == "3;3" || params == "3;5"):
		return []byte{readline.CharEsc, 'd'}
	case final == '~':
		final = map[string]byte{"1": 'H', "7": 'H', "4": 'F', "8": 'F', "3": '~'}[params]
	}
	code, ok := map[byte]byte{
		'A': readline.CharPrev, 'B': readline.CharNext, 'C': readline.CharForward, 'D': readline.CharBackward,
		'H': readline.CharLineStart, 'F': readline.CharLineEnd, '~': deleteKey,
	}[final]
	if !ok {
		return nil
	}
	return []byte{code}
}
