package pmix

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestEndThatIsNotTold has a server that tells the end of a job late or never. The table shows that
// the job is over.
func TestEndThatIsNotTold(t *testing.T) {
	running := `{"id":%d,"info":[{"key":"pmix.qry.ptable","type":"table","table":[{"nspace":"s@1","rank":0,"host":"n0","executable":"a","pid":7,"exit":0,"state":6}]}]}`
	unknown, over := `{"id":%d,"status":-46}`, strings.Replace(running, `"state":6`, `"state":20`, 1)
	for name, c := range map[string]struct {
		answers []string // to questions for the table; the last is repeated
		event   int      // before which answer the end is told; 0: never
		says    string   // the error; "": none
		after   time.Duration
	}{
		"told":            {[]string{running, running, running}, 3, "", 15 * time.Second},
		"late":            {[]string{unknown, unknown}, 2, "", 10 * time.Second},
		"never":           {[]string{running, unknown}, 0, "has not told how it has ended", 15 * time.Second},
		"all have ended":  {[]string{over}, 0, "has not told how it has ended", 10 * time.Second},
		"not for a while": {[]string{unknown, running, unknown}, 0, "has not told how it has ended", 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				d := NewDirect(DirectSpec{})
				d.helper = &Helper{Conn: NewConn(ours, ours, d.note)}
				d.setJob(ofRanks, "s@1")
				w := &twin{t, theirs, NewLines(theirs)}
				go func() {
					for n := 0; ; n++ {
						line, err := w.lines.Next()
						if err != nil {
							return
						}
						r, err := ParseRequest(line)
						if err != nil {
							t.Error(err)
						}
						if n+1 == c.event {
							w.says(`{"event":-145,"info":[{"key":"pmix.evproc","type":"proc","proc":{"nspace":"s@1","rank":4294967294}},{"key":"pmix.exit.code","type":"int","number":3}]}`)
						}
						w.says(fmt.Sprintf(c.answers[min(n, len(c.answers)-1)], r.ID))
					}
				}()
				began := time.Now()
				endings, err := d.Ended(context.Background())
				if took := time.Since(began); took != c.after {
					t.Errorf("after %v", took)
				}
				if c.says == "" && (err != nil || len(endings) != 1 || endings[0].Code != 3) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
					t.Errorf("%+v, %v", endings, err)
				}
				ours.Close()
				theirs.Close()
				<-d.helper.Done()
			})
		})
	}
}
