// Calls of torch.distributed that wait for other ranks.

package sampler

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sdm/backend/probe/internal/image"
	"sdm/backend/probe/internal/python"
	"sdm/backend/probe/internal/torch"
	"sdm/protocol/digest"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// torchCall is the call of torch.distributed that a thread is in.
type torchCall struct {
	*torch.Call
	frame *python.Frame
	// progress changes when the function or one that has called it goes on.
	progress []byte
}

// torchCalls returns the calls of torch.distributed that the threads of a process are in, by thread ID.
func (r *reading) torchCalls() map[int]torchCall {
	var values *python.Values
	calls := map[int]torchCall{}
	threads := r.interpreter.threads()
	for i := range threads {
		f := innermostFrame(&threads[i])
		if f == nil || !torch.Waits(f) {
			continue
		}
		if values == nil {
			if values = r.interpreter.in.Values(pythonMemory{memoryOf(r.held)}, r.interpreter.shot); values == nil {
				return nil
			}
		}
		if c := torch.Find(values, f); c != nil {
			x := torchCall{Call: c, frame: f}
			for _, call := range threads[i].Calls {
				for k := range call.Frames {
					x.progress = values.Progress(x.progress, &call.Frames[k])
				}
			}
			for k := range r.shot.Threads {
				if t := &r.shot.Threads[k]; t.Pointer != 0 && t.Pointer == threads[i].Pointer {
					calls[t.TID] = x
				}
			}
		}
	}
	return calls
}

// innermostFrame returns the innermost Python frame of a thread; nil: there is none.
func innermostFrame(t *python.Thread) *python.Frame {
	for _, c := range t.Calls {
		for i := range c.Frames {
			return &c.Frames[i]
		}
	}
	return nil
}

// short returns what a call waits for, in short: "root 1 on the process group of 1,3".
func (c *torchCall) short() string {
	var parts []string
	switch {
	case c.Kind == torch.Send:
		parts = append(parts, "to "+numberOrUnknown(c.Peer), "tag "+numberOrUnknown(c.Tag))
	case c.Kind == torch.Receive:
		parts = append(parts, "from "+numberOrUnknown(c.Peer), "tag "+numberOrUnknown(c.Tag))
	case c.Root != torch.Unknown:
		parts = append(parts, fmt.Sprint("root ", c.Root))
	}
	if c.Op != "" {
		parts = append(parts, c.Op)
	}
	if !c.ProcessGroup.Default {
		parts = append(parts, "on "+processGroupName(&c.ProcessGroup))
	}
	return strings.Join(parts, " ")
}

// numberOrUnknown formats a rank or a tag.
func numberOrUnknown(n int) string {
	switch n {
	case torch.Any:
		return "any"
	case torch.Unknown:
		return "?"
	}
	return fmt.Sprint(n)
}

// maxProcessGroupText bounds the bytes of the ranks in the name of a process group.
const maxProcessGroupText = 40

// processGroupName names a process group: torch numbers most of them.
func processGroupName(g *torch.ProcessGroup) string {
	if g.Default {
		return "the default process group"
	}
	if ranks := setOf(g.Members).String(); len(ranks) <= maxProcessGroupText {
		return "the process group of " + ranks
	}
	return fmt.Sprintf("the process group %s of %d ranks", g.Name, len(g.Members))
}

// addTorchCall adds what a call of torch.distributed waits for.
func (w *Waits) addTorchCall(c *torchCall) {
	members := setOf(c.ProcessGroup.Members)
	name := c.ProcessGroup.Name
	if c.ProcessGroup.Default {
		name = "default"
	}
	key := "torch." + name + "." + digest.Text(digest.OfText(members.String()))
	w.Comms = append(w.Comms, wait.Comm{Key: key, Name: processGroupName(&c.ProcessGroup), Members: members})
	if c.Kind == torch.Together {
		call := wait.Call{Function: c.Function, Comm: key, Op: c.Op, Root: wait.No, Bytes: wait.No}
		if c.Root != torch.Unknown {
			call.Root = c.Root
		}
		w.Calls = append(w.Calls, call)
		return
	}
	m := unknownMessage(c.Function)
	m.Comm, m.Send = key, c.Kind == torch.Send
	switch {
	case c.Peer == torch.Any:
		m.Peer = wait.Any
	case c.Peer >= 0 && c.Peer <= int(rank.MaxID):
		m.Peer = c.Peer
	}
	if c.Tag >= 0 {
		m.Tag = c.Tag
	}
	w.Waits = append(w.Waits, m)
}

// addTorch notes that a thread is in a call of torch.distributed.
func (w *Waits) addTorch(c *torchCall) {
	if c.ProcessGroup.Rank == torch.Unknown { // other ranks name it by this rank
		w.Waits = append(w.Waits, unknownMessage(c.Function))
	} else {
		w.Number, w.Numbered = c.ProcessGroup.Rank, true
		w.addTorchCall(c)
	}
	w.inTorch = true
}

// mayUseTorch reports whether torch is loaded.
func (p *process) mayUseTorch() bool {
	isTorch := func(m image.Module) bool { return strings.HasPrefix(filepath.Base(m.Path), "libtorch") }
	return p.python != nil && slices.ContainsFunc(p.modules, isTorch)
}

// outsideTorch returns the frames of a stack, outermost first, that have called a function of torch.distributed.
func outsideTorch(frames []stack.Frame, function string) []stack.Frame {
	for i, f := range frames {
		own := strings.HasSuffix(f.File, torch.File) || strings.HasSuffix(f.File, torch.Wrappers)
		if own || f.File == "" && f.From == "" && f.Func == function {
			return frames[:i]
		}
	}
	return frames
}
