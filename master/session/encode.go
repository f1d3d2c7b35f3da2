// Encoding of events as JSON.

package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// MarshalJSON returns the event as one JSON object; see AppendJSON. Use AppendJSON, or an encoder
// with SetEscapeHTML(false), if the bytes must be unchanged.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// AppendJSON adds the event's JSON object to b, without a newline: the ndjson line and the JSON-RPC
// notification of docs/protocol.md. The order of fields is fixed: event, id, command, ranks, n,
// late, cursor, from, then the fields of the kind, then columns, stack and waits. A body that is not JSON, which
// is a defect of a server, is encoded as base64 in "data".
func (e Event) AppendJSON(b []byte) []byte {
	start := len(b)
	b = append(b, `{"event":`...)
	b = appendText(b, e.Name)
	if e.ID != 0 {
		b = append(b, `,"id":`...)
		b = strconv.AppendUint(b, uint64(e.ID), 10)
	}
	if e.Command != "" {
		b = append(b, `,"command":`...)
		b = appendText(b, e.Command)
	}
	if e.Done != nil {
		b = e.Done.appendFields(b)
	} else {
		b = e.appendGroup(b)
	}
	return Escaped(append(b, '}'), start)
}

// Escaped escapes the characters in b[start:], a text of JSON, that change what a terminal shows and that JSON does
// not escape itself: DEL, C1 control characters, and those that change the direction of text.
func Escaped(b []byte, start int) []byte {
	if !bytes.ContainsFunc(b[start:], isHidden) {
		return b
	}
	text := string(b[start:])
	b = b[:start]
	for _, r := range text {
		if isHidden(r) {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

func isHidden(r rune) bool {
	return r >= 0x7f && r < 0xa0 || protocol.ChangesDirection(r)
}

func (e Event) appendGroup(b []byte) []byte {
	g := e.Group
	b = appendSet(b, "ranks", g.Ranks)
	b = append(b, `,"n":`...)
	b = strconv.AppendInt(b, int64(g.Ranks.Len()), 10)
	if e.Late {
		b = append(b, `,"late":true`...)
	}
	if e.Cursor != 0 {
		b = append(b, `,"cursor":`...)
		b = strconv.AppendUint(b, e.Cursor, 10)
	}
	switch g.Kind {
	case protocol.KindResult:
		b = appendResult(b, g.Body)
	case protocol.KindStdout, protocol.KindStderr:
		if e.From != "" {
			b = append(b, `,"from":`...)
			b = appendText(b, e.From)
		}
		b = appendOutput(b, g)
	case protocol.KindMissing, protocol.KindLost:
		b = appendMissing(b, g.Body)
	case protocol.KindSignalled:
		b = appendInline(b, withoutCode(g.Body))
	default:
		b = appendInline(b, g.Body)
	}
	b = appendColumns(b, g.Columns, e.Command == "stat")
	if g.Stack != nil {
		b = append(b, `,"stack":`...)
		b = append(b, canonical.JSON(g.Stack)...)
	}
	if g.Waits != nil {
		b = append(b, `,"waits":`...)
		b = append(b, canonical.JSON(g.Waits)...)
	}
	return b
}

func appendResult(b, body []byte) []byte {
	if len(body) == 0 {
		body = []byte("{}")
	}
	compact, ok := compacted(body)
	if !ok {
		return appendData(b, body)
	}
	b = append(b, `,"result":`...)
	return append(b, compact...)
}

func appendOutput(b []byte, g protocol.Group) []byte {
	stream := "stdout"
	if g.Kind == protocol.KindStderr {
		stream = "stderr"
	}
	b = append(b, `,"stream":"`+stream+`"`...)
	if !utf8.Valid(g.Body) {
		return appendData(b, g.Body)
	}
	b = append(b, `,"text":`...)
	return appendText(b, string(g.Body))
}

// appendMissing encodes the cause: a missing answer as "waited", anything else as "cause".
func appendMissing(b, body []byte) []byte {
	var m protocol.Missing
	if json.Unmarshal(body, &m) != nil {
		return appendInline(b, body)
	}
	if wait, ok := strings.CutPrefix(m.Cause, protocol.NoAnswerIn); ok {
		b = append(b, `,"waited":`...)
		b = appendText(b, wait)
	} else {
		b = append(b, `,"cause":`...)
		b = appendText(b, m.Cause)
	}
	if hosts := Hosts(m); hosts != nil {
		b = append(b, `,"hosts":`...)
		b = append(b, canonical.JSON(hosts)...)
	}
	return b
}

// withoutCode removes the exit code from the status of a rank that was ended by a signal.
func withoutCode(body []byte) []byte {
	var x struct {
		Signal  string `json:"signal"`
		Meaning string `json:"meaning,omitempty"`
	}
	if json.Unmarshal(body, &x) != nil {
		return body
	}
	return canonical.JSON(x)
}

// appendInline adds the fields of an object to those of the event.
func appendInline(b, body []byte) []byte {
	if len(body) == 0 {
		return b
	}
	compact, ok := compacted(body)
	if !ok || compact[0] != '{' {
		return appendData(b, body)
	}
	if len(compact) == len("{}") {
		return b
	}
	b = append(b, ',')
	return append(b, compact[1:len(compact)-1]...)
}

// appendColumns encodes the columns; if described, with all statistics of their numbers.
func appendColumns(b []byte, columns []column.Column, described bool) []byte {
	for i, c := range columns {
		if i == 0 {
			b = append(b, `,"columns":{`...)
		} else {
			b = append(b, ',')
		}
		b = appendText(b, c.Name)
		b = append(b, ':')
		if described {
			b = append(b, canonical.JSON(c.Described())...)
		} else {
			b = append(b, canonical.JSON(c)...)
		}
	}
	if len(columns) > 0 {
		b = append(b, '}')
	}
	return b
}

func (d Done) appendFields(b []byte) []byte {
	b = append(b, `,"asked":`...)
	b = strconv.AppendInt(b, int64(d.Asked), 10)
	b = append(b, `,"answered":`...)
	b = strconv.AppendInt(b, int64(d.Answered), 10)
	if d.Faults != 0 {
		b = append(b, `,"faults":`...)
		b = strconv.AppendInt(b, int64(d.Faults), 10)
	}
	if !d.Missing.IsEmpty() {
		b = appendSet(b, "missing", d.Missing)
	}
	if !d.Lost.IsEmpty() {
		b = appendSet(b, "lost", d.Lost)
	}
	if d.Cancelled {
		b = append(b, `,"cancelled":true`...)
	}
	if len(d.Verdict) > 0 {
		b = append(b, `,"verdict":`...)
		b = append(b, canonical.JSON(d.Verdict)...)
	}
	b = append(b, `,"ms":`...)
	return strconv.AppendFloat(b, milliseconds(d.Took), 'f', -1, 64)
}

// milliseconds rounds to microseconds.
func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

func appendSet(b []byte, name string, s rank.Set) []byte {
	b = append(b, `,"`+name+`":"`...)
	b = append(b, s.String()...)
	return append(b, '"')
}

func appendData(b, data []byte) []byte {
	b = append(b, `,"data":"`...)
	b = base64.StdEncoding.AppendEncode(b, data)
	return append(b, '"')
}

func appendText(b []byte, s string) []byte { return append(b, canonical.JSON(s)...) }

// compacted returns the JSON text without white space, or false if it is not JSON.
func compacted(body []byte) ([]byte, bool) {
	var buf bytes.Buffer
	buf.Grow(len(body))
	if json.Compact(&buf, body) != nil {
		return nil, false
	}
	return buf.Bytes(), true
}
