// A job that has stalled is held as it stands, in a session that people join.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/servers"
	"sdm/cmd/internal/share"
	"sdm/master/frontend/rpc"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
)

// heldJob is a session over the ranks of a job that has stalled. We are its first front end, and leave it to the next
// one.
type heldJob struct {
	*holder
	client *rpc.Client
	own    int // our number among the front ends
	id     string
	shown  uint64 // cursor of the last event
}

// hold attaches to the ranks in a session of its own. nil: the user does not want that, or it does not work, which is
// told.
func (w *watch) hold(ctx context.Context) *heldJob {
	if w.o.hold == 0 {
		return nil
	}
	h, err := w.tryHold(ctx)
	if err != nil {
		w.remark("watch: the job is not held: " + err.Error())
		return nil
	}
	w.remark(fmt.Sprintf("watch: the job is held as it stands for %v, or until somebody has come: sdm join %s", w.o.hold, h.id))
	return h
}

func (w *watch) tryHold(ctx context.Context) (*heldJob, error) {
	begin := *w.app
	begin.args = append([]string{"attach", "--keep", w.o.hold.String()}, w.o.shared()...)
	begin.args = append(begin.args, w.target)
	begin.stdout = w.app.stderr // standard output is the job's
	started, err := begin.startHolder()
	if err != nil {
		return nil, err
	}
	h := &heldJob{holder: started, client: rpc.Over(started)}
	if err := h.begin(ctx); err != nil {
		h.end()
		return nil, err
	}
	return h, nil
}

// begin joins the session and brings the ranks to a stand.
func (h *heldJob) begin(ctx context.Context) error {
	front := &protocol.FrontEnd{Name: share.UserName() + "'s sdm watch", Door: "watch"}
	if _, err := h.client.Initialize(ctx, rpc.Setup{Front: front}); err != nil {
		return err
	}
	joined := h.client.Welcome()
	h.own, h.id = joined.Front.Number, joined.Session
	if joined.Start == nil {
		return errors.New("there is nothing to attach to")
	}
	id, err := h.client.Do(ctx, *joined.Start)
	if err != nil {
		return err
	}
	some := false
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e, more := <-h.client.Events():
			h.shown = max(h.shown, e.Cursor)
			some = some || e.ID == id && e.Done == nil && e.Group.Kind == protocol.KindResult
			switch {
			case !more:
				return errors.New("its session has ended")
			case e.ID == id && e.Done != nil && !some:
				return errors.New("no rank could be attached to")
			case e.ID == id && e.Done != nil:
				return nil
			}
		}
	}
}

// await waits until the session is over: no front end has joined in a time, or one has joined, and it has ended.
// came tells which.
func (h *heldJob) await(ctx context.Context, d time.Duration, remark func(string)) (came bool) {
	late := time.NewTimer(d)
	defer late.Stop()
	for {
		select {
		case e, more := <-h.client.Events():
			if !more {
				<-h.ended
				return false
			}
			h.shown = max(h.shown, e.Cursor)
			if f, is := h.visitor(e); is {
				remark("watch: " + text.FrontEnds([]protocol.FrontEnd{f}) + " has come and has the job")
				h.leave(ctx)
				remark("watch: the session of the job is over, it is watched again")
				return true
			}
		case <-late.C:
			remark(fmt.Sprintf("watch: nobody has come in %v, the ranks are let go", d))
			h.end()
			return false
		case <-ctx.Done():
			h.end()
			return false
		}
	}
}

// visitor returns the front end that an event tells to have come.
func (h *heldJob) visitor(e session.Event) (f protocol.FrontEnd, is bool) {
	is = !e.IsAnswer() && e.Group.Kind == protocol.KindFront && json.Unmarshal(e.Group.Body, &f) == nil
	return f, is && f.Change == "came" && f.Number != h.own
}

// leave leaves the session to who has come, and waits until it has ended.
func (h *heldJob) leave(ctx context.Context) {
	h.client.Leave(h.shown)
	select {
	case <-h.ended:
	case <-ctx.Done():
		h.signal(syscall.SIGTERM)
		<-h.ended
	}
}

// end ends the session, which lets the ranks go.
func (h *heldJob) end() {
	if servers.CloseInTime(h.client) != nil || h.id == "" {
		h.signal(syscall.SIGTERM)
	}
	<-h.ended
}

// shared returns the flags of the command line that sdm attach has as well.
func (o *watchOptions) shared() (args []string) {
	known := (&attachOptions{options: newOptions(nil)}).flags()
	o.given.Visit(func(f *pflag.Flag) {
		switch list, is := f.Value.(pflag.SliceValue); {
		case known.Lookup(f.Name) == nil:
		case is:
			for _, v := range list.GetSlice() {
				args = append(args, "--"+f.Name+"="+v)
			}
		default:
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
	return args
}
