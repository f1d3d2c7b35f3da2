// Decoding of events from JSON.

package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
)

// UnmarshalJSON reads the output of AppendJSON: the event is the same, with an equal body byte for
// byte. Unknown fields remain in the body, so that events of a newer master are preserved. The
// caller bounds the size of b.
func (e *Event) UnmarshalJSON(b []byte) error {
	f, err := readFields(b)
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	var ev Event
	if err := f.event(&ev); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	*e = ev
	return nil
}

// fields are the members of a JSON object in the order of the text, which is significant in bodies.
type fields []field

type field struct {
	name  string
	value json.RawMessage
}

func readFields(b []byte) (fields, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var fs fields
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		fs = append(fs, field{key.(string), value}) // keys are always strings
	}
	_, err := dec.Token()
	return fs, err
}

// want is a field to be read and removed.
type want struct {
	name string
	into any
}

// take reads the wanted fields that are present, and removes them.
func (fs *fields) take(wants ...want) error {
	for _, w := range wants {
		i := slices.IndexFunc(*fs, func(f field) bool { return f.name == w.name })
		if i < 0 {
			continue
		}
		value := (*fs)[i].value
		*fs = slices.Delete(*fs, i, i+1)
		if err := json.Unmarshal(value, w.into); err != nil {
			return fmt.Errorf("field %q: %w", w.name, err)
		}
	}
	return nil
}

func (fs *fields) event(ev *Event) error {
	if err := fs.take(want{"event", &ev.Name}, want{"id", &ev.ID}, want{"command", &ev.Command}); err != nil {
		return err
	}
	switch ev.Name {
	case "":
		return errors.New(`the field "event" is missing`)
	case DoneName:
		ev.Done = new(Done)
		return fs.done(ev.Done)
	}
	return fs.group(ev)
}

func (fs *fields) done(d *Done) error {
	var ms float64
	err := fs.take(want{"asked", &d.Asked}, want{"answered", &d.Answered}, want{"faults", &d.Faults},
		want{"missing", &d.Missing}, want{"lost", &d.Lost}, want{"cancelled", &d.Cancelled}, want{"verdict", &d.Verdict}, want{"ms", &ms})
	d.Took = time.Duration(math.Round(ms*1000)) * time.Microsecond
	return err
}

func (fs *fields) group(ev *Event) error {
	g, n, stream := &ev.Group, 0, ""
	columns := map[string]column.Column{}
	err := fs.take(want{"ranks", &g.Ranks}, want{"n", &n}, want{"late", &ev.Late}, want{"cursor", &ev.Cursor},
		want{"columns", &columns}, want{"stack", &g.Stack}, want{"waits", &g.Waits})
	if err == nil && ev.Name == "output" {
		err = fs.take(want{"stream", &stream}, want{"from", &ev.From})
	}
	if err != nil {
		return err
	}
	for name, c := range columns {
		c.Name = name
		g.Columns = append(g.Columns, c)
	}
	slices.SortFunc(g.Columns, func(a, b column.Column) int { return strings.Compare(a.Name, b.Name) })
	g.Kind = kindOf(ev.Name, stream)
	g.Body, err = fs.body(g.Kind)
	return err
}

func (fs *fields) body(k protocol.Kind) ([]byte, error) {
	var data []byte
	if err := fs.take(want{"data", &data}); err != nil || data != nil {
		return data, err
	}
	switch k {
	case protocol.KindResult:
		var result json.RawMessage
		err := fs.take(want{"result", &result})
		body, _ := compacted(result) // valid JSON: the decoder has read it
		return body, err
	case protocol.KindStdout, protocol.KindStderr:
		var text string
		err := fs.take(want{"text", &text})
		return []byte(text), err
	case protocol.KindMissing, protocol.KindLost:
		return fs.missing()
	case protocol.KindSignalled:
		var x protocol.Exit
		err := fs.take(want{"signal", &x.Signal}, want{"meaning", &x.Meaning})
		return canonical.JSON(x), err
	}
	return fs.object(), nil
}

func (fs *fields) missing() ([]byte, error) {
	var cause string
	var wait *string
	var hosts []string
	if err := fs.take(want{"cause", &cause}, want{"waited", &wait}, want{"hosts", &hosts}); err != nil {
		return nil, err
	}
	if wait != nil {
		cause = protocol.NoAnswerIn + *wait
	}
	return canonical.JSON(MissingOn(cause, hosts)), nil
}

// object encodes the remaining fields as an object, the body.
func (fs *fields) object() []byte {
	b := []byte{'{'}
	for i, f := range *fs {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, f.name)
		b = append(b, ':')
		compact, _ := compacted(f.value) // valid JSON: the decoder has read it
		b = append(b, compact...)
	}
	return append(b, '}')
}
