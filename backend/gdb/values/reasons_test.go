package values

import (
	"testing"

	"sdm/backend/mi/mitest"
)

// TestOneReason: gdb reports several reasons of a stop one after another.
func TestOneReason(t *testing.T) {
	const (
		two   = `wpt={number="2",exp="n"},value={old="0",new="1"}`
		three = `reason="watchpoint-trigger",wpt={number="3",exp="m"},value={old="4",new="5"}`
		read  = `hw-awpt={number="4",exp="k"},reason="access-watchpoint-trigger",value={new="6"}`
		brk   = `reason="breakpoint-hit",disp="keep",bkptno="5"`
		sig   = `reason="signal-received",signal-name="SIGUSR1",signal-meaning="User defined signal 1"`
		end   = `reason="location-reached"`
		place = `,frame={addr="0x1",func="f"},thread-id="1"`
	)
	write := `reason="watchpoint-trigger",` + two
	for gdb, want := range map[string]string{
		brk:                             brk + place,
		write + "," + brk:               brk + place + `,triggered=[{` + write + `}]`,
		write + "," + three:             write + place + `,triggered=[{` + three + `}]`,
		write + "," + three + "," + brk: brk + place + `,triggered=[{` + write + `},{` + three + `}]`,
		read + "," + read:               read + place + `,triggered=[{` + read + `}]`,
		sig + "," + brk:                 brk + place,
		sig + "," + read:                read + place,
		sig + "," + write + "," + brk:   brk + place + `,triggered=[{` + write + `}]`,
		write + "," + read + "," + sig:  sig + place + `,triggered=[{` + write + `},{` + read + `}]`,
		`reason="watchpoint-scope",wpnum="2",` + end: `reason="watchpoint-scope",wpnum="2"` + place,
		write + "," + read + "," + end:               write + place + `,triggered=[{` + read + `}]`,
		end:                                          end + place,
		`reason="watchpoint-scope",wpnum="2",` + brk: brk + place + `,triggered=[{reason="watchpoint-scope",wpnum="2"}]`,
	} {
		got := string(OneReason(mitest.Record("*stopped," + gdb + place).Results).Append(nil))
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", gdb, got, want)
		}
	}
}
