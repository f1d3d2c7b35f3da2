// Greetings of parents and children, some of them false.

package overlay

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"sdm/protocol"
	"sdm/protocol/wire"
	"sdm/tree"
)

var (
	aParent = Identity{Node: 0, Session: "s1", Epoch: 3, Host: "login1", Program: "/usr/bin/sdm", Build: "b1", Size: 9}
	aChild  = Identity{Node: 5, Session: "s1", Epoch: 2, Host: "node07", Program: "/opt/sdm-server", Build: "b2", Size: 9}
)

func (id Identity) inSession(session string) Identity { id.Session = session; return id }
func (id Identity) inEpoch(epoch uint64) Identity     { id.Epoch = epoch; return id }

func TestGreeting(t *testing.T) {
	tests := []struct {
		name   string
		parent Identity
		want   tree.NodeID
		err    error
		text   string // part of the errors on both sides
	}{
		{"accepted", aParent, 5, nil, ""},
		{"accepted in the same epoch", aParent.inEpoch(2), 5, nil, ""},
		{"another number", aParent, 6, ErrNumber, "found server 4 on node07 instead of server 5"},
		{"another session", aParent.inSession("s2"), 5, ErrSession, "server 4 on node07 belongs to another session"},
		{"an older epoch", aParent.inEpoch(1), 5, ErrEpoch, "server 4 has a parent of epoch 2 already, epoch 1 is older"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b := pipe()
			defer a.Close()
			defer b.Close()
			met, err, theirs, theirErr := greetBoth(t, a, b, test.parent, test.want)
			if test.err == nil {
				check(t, errors.Join(err, theirErr))
				if met != aChild || theirs != test.parent {
					t.Errorf("parent met %+v, child met %+v", met, theirs)
				}
				return
			}
			for _, err := range []error{err, theirErr} {
				if !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.text) {
					t.Errorf("error %v, want %v: %s", err, test.err, test.text)
				}
			}
		})
	}
}

func greetBoth(t *testing.T, a, b Link, parent Identity, want tree.NodeID) (met Identity, err error, theirs Identity, theirErr error) {
	t.Helper()
	ctx := testContext(t)
	answered := async(func() error {
		theirs, theirErr = Answer(ctx, b, aChild)
		return nil
	})
	met, err = Greet(ctx, a, parent, want)
	await(t, "Answer", answered)
	return met, err, theirs, theirErr
}

// helloOfVersion returns a Hello as another version of the protocol encodes it.
func helloOfVersion(version int, more string) []byte {
	m := wire.Message{Kind: wire.Hello, Body: []byte(
		`{"version":` + string(rune('0'+version)) + `,"build":"b9","host":"login1","program":"/old/sdm","node":0,"session":"s1","want":5` + more + `}`)}
	p := wire.Append(nil, &m)
	p[lengthSize] = byte(version)
	return p
}

func TestGreetingOfAnotherVersion(t *testing.T) {
	raw, link := openMemory(t)
	defer raw.Close()
	raw.Write(helloOfVersion(protocol.PacketVersion+1, `,"news":{"a":[1]}`))
	_, err := Answer(testContext(t), link, aChild)
	const text = "node07:/opt/sdm-server speaks version 4 (build b2), login1:/old/sdm speaks version 5 (build b9); install the same build on all hosts"
	if !errors.Is(err, ErrVersion) || err.Error() != text {
		t.Errorf("the child says %q, want %q", err, text)
	}
	s := NewStream(raw, "raw").(*stream)
	m, err := s.receiveGreeting()
	check(t, err)
	var w welcome
	check(t, json.Unmarshal(m.Body, &w))
	if w.Refusal != "version" || w.Reason != text {
		t.Errorf("the parent is told %+v", w)
	}
}

func TestWelcomeOfAnotherVersion(t *testing.T) {
	raw, link := openMemory(t)
	defer raw.Close()
	m := wire.Message{Kind: wire.Welcome, Body: []byte(`{"version":5,"host":"node07","node":5,"session":"s1"}`)}
	p := wire.Append(nil, &m)
	p[lengthSize] = protocol.PacketVersion + 1
	raw.Write(p)
	_, err := Greet(testContext(t), link, aParent, 5)
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "node07 speaks version 5, login1:/usr/bin/sdm speaks version 4") {
		t.Errorf("the parent says %v", err)
	}
}

// A parent refuses a wrong child even if the child accepts it.
func TestGreetJudgesItself(t *testing.T) {
	for name, body := range map[string]string{
		"another number":          `{"version":VERSION,"node":6,"session":"s1"}`,
		"another session":         `{"version":VERSION,"node":5,"session":"s2"}`,
		"a reason of later times": `{"version":VERSION,"node":5,"session":"s1","refusal":"moonphase","reason":"x"}`,
		"no object":               `[]`,
		"a number below 0":        `{"version":VERSION,"node":-1,"session":"s1"}`,
		"a host that is too long": `{"version":VERSION,"node":5,"session":"s1","host":"` + strings.Repeat("h", maxName+1) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			raw, link := openMemory(t)
			defer raw.Close()
			body = strings.Replace(body, "VERSION", strconv.Itoa(protocol.PacketVersion), 1)
			m := wire.Message{Kind: wire.Welcome, Body: []byte(body)}
			raw.Write(wire.Append(nil, &m))
			if _, err := Greet(testContext(t), link, aParent, 5); err == nil || errors.Is(err, ErrVersion) {
				t.Errorf("the parent says %v", err)
			}
		})
	}
}

func TestGreetingIsBounded(t *testing.T) {
	raw, link := openMemory(t)
	defer raw.Close()
	m := wire.Message{Kind: wire.Hello, Body: make([]byte, maxGreeting)}
	raw.Write(wire.Append(nil, &m))
	if _, err := Answer(testContext(t), link, aChild); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a hello of %d bytes: %v", maxGreeting, err)
	}
}

func TestGreetingEndsWithContext(t *testing.T) {
	cause := errors.New("no more time")
	for _, side := range []struct {
		name string
		call func(context.Context, Link) error
	}{
		{"Greet", func(ctx context.Context, l Link) error { _, err := Greet(ctx, l, aParent, 5); return err }},
		{"Answer", func(ctx context.Context, l Link) error { _, err := Answer(ctx, l, aChild); return err }},
	} {
		t.Run(side.name, func(t *testing.T) {
			a, b := pipe()
			defer b.Close()
			ctx, cancel := context.WithCancelCause(context.Background())
			ended := async(func() error { return side.call(ctx, a) })
			cancel(cause)
			if err := await(t, side.name, ended); err != cause {
				t.Errorf("ended with %v", err)
			}
			b.Send() // may succeed; the next must fail
			for {
				if _, err := b.Receive(); err != nil {
					return // the link is closed
				}
			}
		})
	}
}

func FuzzGreeting(f *testing.F) {
	f.Add(helloOfVersion(1, ""))
	f.Add(helloOfVersion(7, `,"register":{"server":1}`))
	f.Add([]byte{0, 0, 0, 3, 1, 4, 1})
	f.Fuzz(func(t *testing.T, p []byte) {
		raw, link := openMemory(t)
		raw.Write(p)
		raw.Close()
		id, err := Answer(context.Background(), link, aChild)
		if err == nil && (id.Session != aChild.Session || id.Epoch < aChild.Epoch) {
			t.Errorf("%+v was let in", id)
		}
		link.Close()
	})
}

func FuzzReceive(f *testing.F) {
	m := command(1, []byte("body"))
	f.Add(wire.Append(wire.Append(nil, &m), &m))
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, p []byte) {
		raw, link := openMemory(t)
		raw.Write(p)
		raw.Close()
		for {
			if _, err := link.Receive(); err != nil {
				break
			}
		}
		link.Close()
	})
}
