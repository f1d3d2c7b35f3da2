// Tests of answers of RAS.

package nccl

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"sdm/launch"
	"sdm/launch/nccl/nccltest"
	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// asked returns what a stand-in answers.
func asked(t *testing.T, j *nccltest.Job) *Reply {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() {
		_ = j.Serve(theirs)
		theirs.Close()
	}()
	defer ours.Close()
	r, err := Ask(ours, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// comm is a communicator whose ranks have begun so many AllReduces, in processes 100, 101 and so on.
func comm(hash string, counts ...uint64) nccltest.Comm {
	c := nccltest.Comm{Hash: hash}
	for i, n := range counts {
		c.Ranks = append(c.Ranks, nccltest.Rank{Host: "10.0.0.1", PID: 100 + i, Counts: [5]uint64{4: n}})
	}
	return c
}

// told formats counts.
func told(counts []wait.Count) string {
	var lines []string
	for _, c := range counts {
		lines = append(lines, c.In.String()+" in "+c.Function+" of "+c.Name+" without "+c.Behind.String())
	}
	return strings.Join(lines, "\n")
}

func TestBehind(t *testing.T) {
	broadcast := comm("0xa", 5, 4)
	broadcast.Ranks[1].Counts = [5]uint64{0: 1, 4: 4}
	several := comm("0xa", 6, 4, 5)
	several.Ranks[0].Counts[0] = 2
	unknown := comm("0xa", 6, 4)
	unknown.Ranks[0].Counts[0] = 2
	missing := comm("0xa", 6, 6, 6)
	missing.Ranks[2].Missing = true
	late := comm("0xa", 6, 6, 5)
	late.Ranks[0].Missing = true
	begins := comm("0xa", 6, 6, 5)
	begins.Ranks[2].Init = 7
	for name, c := range map[string]struct {
		comm nccltest.Comm
		want string
	}{
		"equal":                              {comm("0xa", 7, 7, 7), ""},
		"one is behind":                      {comm("0xa", 7, 7, 6), "0-1 in AllReduce number 7 of communicator 0xa (3) without 2"},
		"the others have gone on":            {comm("0xa", 9, 8, 6, 6), "0-1 in AllReduce number 7 of communicator 0xa (4) without 2-3"},
		"different collectives":              {broadcast, "0 in AllReduce number 5 of communicator 0xa (2) without \n1 in Broadcast number 1 of communicator 0xa (2) without "},
		"the order is told by another":       {several, "0,2 in AllReduce number 5 of communicator 0xa (3) without 1"},
		"the order is not known":             {unknown, "0 in collective number 5 of communicator 0xa (2) without 1"},
		"a process does not answer":          {missing, "0-1 in AllReduce number 6 of communicator 0xa (3) without 2"},
		"one is behind, another one is gone": {late, "1 in AllReduce number 6 of communicator 0xa (3) without 2"},
		"not initialised":                    {begins, ""},
	} {
		r := asked(t, &nccltest.Job{Comms: []nccltest.Comm{c.comm}})
		if got := told(Behind([]*Reply{r, r, r}, r.Numbers())); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Counts that change tell nothing.
func TestGoesOn(t *testing.T) {
	var replies []*Reply
	for _, n := range []uint64{6, 6, 7} {
		replies = append(replies, asked(t, &nccltest.Job{Comms: []nccltest.Comm{comm("0xa", n, 5), comm("0xb", 2, 1)}}))
	}
	want := "0 in AllReduce number 2 of communicator 0xb (2) without 1"
	if got := told(Behind(replies, replies[2].Numbers())); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Behind(replies[:1], nil); got != nil {
		t.Errorf("one answer tells %v", got)
	}
}

// Numbers are ranks in the communicator of all processes.
func TestNumbers(t *testing.T) {
	small, world := comm("0xa", 1, 1), comm("0xb", 1, 1, 1)
	world.Ranks[0], world.Ranks[2] = world.Ranks[2], world.Ranks[0]
	r := asked(t, &nccltest.Job{Comms: []nccltest.Comm{small, world}})
	host := netip.MustParseAddr("10.0.0.1")
	if n := r.Numbers(); n[Process{host, 100}] != 2 || n[Process{host, 102}] != 0 {
		t.Errorf("%v", n)
	}
	r = asked(t, &nccltest.Job{Comms: []nccltest.Comm{small}})
	if n := r.Numbers(); n[Process{host, 101}] != 1 {
		t.Errorf("%v", n)
	}
}

func TestOldRelease(t *testing.T) {
	if r := asked(t, &nccltest.Job{Old: true}); !strings.HasPrefix(r.Text, "Job summary\n") || r.Comms != nil {
		t.Errorf("%+v", r)
	}
}

// A process is taken only where its host has found it.
func TestJoin(t *testing.T) {
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	numbers := map[Process]rank.ID{{a, 100}: 0, {a, 101}: 1, {a, 7}: 2, {b, 100}: 3, {a, 8}: 4}
	found := []launch.Found{{Host: "n1", Addresses: []netip.Addr{a}, Ranks: []launch.FoundRank{
		{PID: 100}, {PID: 900, Inner: 7}, {PID: 901, Inner: 8}, {PID: 8}}}}
	table, refused := Join(numbers, 28028, found)
	if len(table) != 2 || table[0].PID != 100 || table[1].PID != 900 || table[1].Rank != 2 || table[0].Host != "n1" {
		t.Errorf("%v", table)
	}
	var said []string
	for _, r := range refused {
		said = append(said, r.Ranks.String()+" "+r.Why)
	}
	want := "3 on 10.0.0.2, which is no host that --hosts names\n" +
		"1 on n1, where no process of yours with its number listens on port 28028\n" +
		"4 on n1, where several processes have its number"
	if got := strings.Join(said, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestRefusedAnswers(t *testing.T) {
	for text, want := range map[string]string{
		`[`:                                "not what NCCL answers",
		strings.Repeat(`{"a":`, 20):        "nested too deeply",
		`{"communicators":[{}]}`:           "without a hash",
		`{"communicators":[{"hash":" "}]}`: "without a hash",
		`{"communicators":[{"hash":"a"},{"hash":"a"}]}`:                                                              "twice",
		`{"communicators":[{"hash":"a","size":1,"ranks":[{"rank":1,"host":"::1","pid":1,"collective_counts":{}}]}]}`: "not possible",
		`{"communicators":[{"hash":"a","size":1,"ranks":[{"rank":0,"host":"x","pid":1,"collective_counts":{}}]}]}`:   "no address",
		`{"communicators":[{"hash":"a","size":1,"ranks":[{"rank":0,"host":"::1","collective_counts":{}}]}]}`:         "in process 0",
		`{"communicators":[{"hash":"a","size":1,"ranks":[{"rank":0,"host":"::1","pid":1}]}]}`:                        "no counts",
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// FuzzParse: any answer is refused or consistent.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"nccl_version":"2.29.1","communicators":[{"hash":"0xa","size":2,"ranks":[{"rank":0,"host":"10.0.0.1",` +
		`"pid":5,"status":{"init_state":0},"collective_counts":{"AllReduce":3}}],"missing_ranks":[{"rank":1,"host":"::1","pid":6}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parse(text)
		if err != nil {
			return
		}
		numbers := r.Numbers()
		for _, c := range Behind([]*Reply{r, r}, numbers) {
			if c.In.IsEmpty() || c.In.Intersects(c.Behind) || c.Function == "" {
				t.Errorf("%+v", c)
			}
		}
		Join(numbers, 1, nil)
	})
}

// FuzzDialog: whatever the other end says, the dialog ends.
func FuzzDialog(f *testing.F) {
	f.Add([]byte("SERVER PROTOCOL 2\nOK\nOK\n{}"))
	f.Add([]byte("SERVER PROTOCOL 1\nOK\nERROR\nJob summary"))
	f.Fuzz(func(t *testing.T, said []byte) {
		if r, err := dialog(&stream{said: said}); err == nil && r.Text == "" && r.Comms == nil && len(said) > maxReply {
			t.Error("an answer without an end")
		}
	})
}

// stream is an end of a connection that has said all that it will say.
type stream struct{ said []byte }

func (s *stream) Write(b []byte) (int, error) { return len(b), nil }

func (s *stream) Read(b []byte) (int, error) {
	if len(s.said) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.said)
	s.said = s.said[n:]
	return n, nil
}
