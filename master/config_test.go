package master

import (
	"strings"
	"testing"
	"time"

	"sdm/protocol/wire"
)

func TestConfigIsChecked(t *testing.T) {
	newRoot := func(func(wire.Message)) root { return nil }
	for _, c := range []struct {
		name string
		cfg  Config
		want string // part of the error; "" is none
	}{
		{"the defaults", Config{newRoot: newRoot}, ""},
		{"no way to the children", Config{}, "Dial"},
		{"shorter than the heartbeat", Config{newRoot: newRoot, Heartbeat: 2 * time.Second, Silence: time.Second}, "Silence: 1s must not be shorter than Heartbeat, 2s"},
		{"shorter than the default heartbeat", Config{newRoot: newRoot, Silence: time.Second}, "Silence: 1s must not be shorter than Heartbeat, 5s"},
		{"a long heartbeat alone", Config{newRoot: newRoot, Heartbeat: time.Hour}, ""},
		{"without heartbeats", Config{newRoot: newRoot, Heartbeat: -1, Silence: time.Millisecond}, ""},
		{"a negative wait", Config{newRoot: newRoot, Wait: -1}, "Wait"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.cfg.Validate()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
