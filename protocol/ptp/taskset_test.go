package ptp_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

func TestSetText(t *testing.T) {
	for _, tt := range []struct {
		ranks rank.Set
		tasks int
		want  string
	}{
		{rank.Range(0, 15), 16, "10:ffff"},
		{rank.Of(3), 4, "4:08"},
		{rank.Of(0), 1, "1:01"},
		{rank.Of(8), 9, "9:0100"},
		{rank.Set{}, 4, "4:00"},
		{rank.Set{}, 300, "12c:00"},
		{rank.Of(5), 4, "6:20"},
	} {
		got := ptp.SetText(tt.ranks, tt.tasks)
		if got != tt.want {
			t.Errorf("%v of %d: %s, want %s", tt.ranks, tt.tasks, got, tt.want)
		}
		if back, _, err := ptp.ParseSet(got); err != nil || !back.Equal(tt.ranks) {
			t.Errorf("%s: %v, %v", got, back, err)
		}
	}
}

func TestParseSet(t *testing.T) {
	for text, want := range map[string]string{
		"4:0f": "0-3 of 4", "4:f": "0-3 of 4", "4:F": "0-3 of 4", "4:000f": "0-3 of 4", "0:00": " of 0", "N:00": "no set",
		"": "no set", ":": "no set", "4": "no set", "4:": "no set", "4:0g": "no set", "x:00": "no set",
		"4:10": "task 4 of 4", "ffffffff:01": "a set of 4294967295 tasks", "fffffffff:01": "no set", "-4:0f": "no set", "4:-f": "no set",
		"40:" + strings.Repeat("f", 16): "0-63 of 64", "1:" + strings.Repeat("0", 1<<21): "a set of 8388608 tasks",
	} {
		ranks, tasks, err := ptp.ParseSet(text)
		got := fmt.Sprintf("%v of %d", ranks, tasks)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%.40s: %s, want %s", text, got, want)
		}
	}
}

// slowText encodes a set task by task.
func slowText(ranks rank.Set, tasks int) string {
	bits := ""
	for i := range (tasks + 7) / 8 * 8 {
		bit := "0"
		if ranks.Contains(rank.ID(i)) {
			bit = "1"
		}
		bits = bit + bits
	}
	text := fmt.Sprintf("%x:", tasks)
	for ; bits != ""; bits = bits[4:] {
		var d int
		fmt.Sscanf(bits[:4], "%b", &d)
		text += fmt.Sprintf("%x", d)
	}
	return text
}

func TestSetTwin(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	for range 500 {
		tasks := 1 + rng.Intn(200)
		ids := []rank.ID{rank.ID(rng.Intn(tasks))}
		for range rng.Intn(tasks) {
			ids = append(ids, rank.ID(rng.Intn(tasks)))
		}
		set := rank.Of(ids...)
		text := ptp.SetText(set, tasks)
		if slow := slowText(set, tasks); text != slow {
			t.Fatalf("%v of %d: %s, want %s", set, tasks, text, slow)
		}
		if back, n, err := ptp.ParseSet(text); err != nil || n != tasks || !back.Equal(set) {
			t.Fatalf("%s: %v of %d, %v", text, back, n, err)
		}
	}
}

func FuzzParseSet(f *testing.F) {
	f.Add("4:0f")
	f.Add("10:ffff")
	f.Add("N:00")
	f.Fuzz(func(t *testing.T, text string) {
		ranks, tasks, err := ptp.ParseSet(text)
		if err != nil {
			return
		}
		again, n, err := ptp.ParseSet(ptp.SetText(ranks, tasks))
		if err != nil || n != tasks || !again.Equal(ranks) {
			t.Fatalf("%q: %v of %d became %v of %d, %v", text, ranks, tasks, again, n, err)
		}
	})
}

func TestText(t *testing.T) {
	for text, wire := range map[string]string{
		"": "", "plain = 1": "plain = 1", "é": "\xe9", "ÿ": "\xff", "日本": "日本", "\xff\xfe": "\xff\xfe",
	} {
		if got := ptp.Latin1(text); got != wire {
			t.Errorf("%q is %q on the wire, want %q", text, got, wire)
		}
	}
	for wire, text := range map[string]string{"": "", "a": "a", "\xe9": "é", "日本": "日本", "\xff\xfe": "ÿþ"} {
		if got := ptp.Text(wire); got != text {
			t.Errorf("%q reads %q, want %q", wire, got, text)
		}
	}
}

func TestCommands(t *testing.T) {
	for i, c := range ptp.Commands {
		if c.Name == "" {
			t.Errorf("command %d has no name", i)
		}
	}
	if _, known := ptp.LookupCommand(ptp.Code(len(ptp.Commands))); known {
		t.Error("there is one more command")
	}
	if c, known := ptp.LookupCommand(ptp.Go); !known || c.Name != "GO" {
		t.Errorf("%+v", c)
	}
}
