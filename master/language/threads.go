// The arguments of words about threads and about memory as bytes.

package language

import (
	"encoding/hex"
	"strconv"
	"strings"

	"sdm/protocol"
)

// The arguments of words about threads and about memory as bytes.

// cutThread reads "3.2", thread 2 of rank 3; false for any other set.
func cutThread(set string) (ranks string, thread int, ok bool) {
	ranks, text, found := strings.Cut(set, ".")
	if !found || ranks == "" || strings.Trim(ranks, "0123456789") != "" {
		return "", 0, false
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return "", 0, false
	}
	return ranks, int(n), true
}

// takeThread sets the thread that is given with the rank.
func takeThread(c *Command) *Mistake {
	if c.Thread == 0 {
		return nil
	}
	info, _ := protocol.LookupCommand(c.Do)
	if !info.Takes("thread") {
		return &Mistake{Text: c.Name + " is not for one thread", Hint: "[" + c.Set + "] " + c.Name}
	}
	c.Args.Thread = c.Thread
	return nil
}

// parseThread reads a number, or "3.2".
func parseThread(c *Command) *Mistake {
	text := c.Rest
	if text == "" {
		return nil
	}
	if ranks, thread, ok := cutThread(text); ok && c.Set == "" {
		c.Set, c.Rest, c.Args.Thread = ranks, strconv.Itoa(thread), thread
		return nil
	}
	n, m := number(c, text, 1)
	c.Args.Thread = n
	return m
}

// parseThreads reads numbers and ranges of threads.
func parseThreads(c *Command) *Mistake {
	c.Args.Threads = strings.Join(listed(c.Rest), ",")
	var checked []int
	return numbers(c, c.Rest, &checked)
}

// parseThreadName passes the line to gdb.
func parseThreadName(c *Command) *Mistake {
	c.Args.Text = strings.TrimSpace(c.Name + " " + c.Rest)
	return nil
}

// parseApply reads "all|N... COMMAND".
func parseApply(c *Command) *Mistake {
	threads, line := cutThreads(c.Rest)
	if threads == "" || line == "" {
		return &Mistake{Text: "thread apply: to which threads, and what?", Hint: "thread apply all backtrace"}
	}
	if strings.HasPrefix(line, "-") {
		return &Mistake{Text: "thread apply: the flags -q, -c and -s are not available", Hint: "gdb's own: gdb thread apply " + c.Rest}
	}
	c.Args.Threads, c.Text = threads, line
	return nil
}

// applyInner parses the command that is to be applied.
func applyInner(c *Command) *Mistake {
	line := c.Text
	c.Text = ""
	threads := c.Args.Threads
	inner := Command{}
	if m := parse(&inner, line); m != nil {
		return m
	}
	info, _ := protocol.LookupCommand(inner.Do)
	if !info.PerThread() || inner.Set != "" {
		return &Mistake{Text: "thread apply: " + inner.Name + " cannot be applied to threads", Hint: "print, backtrace, info locals, x, ..."}
	}
	c.Args = inner.Args
	c.Args.Threads, c.Args.Apply = threads, inner.Do
	return nil
}

// cutThreads cuts off "all", or numbers and ranges.
func cutThreads(s string) (threads, rest string) {
	if word, rest := cutBlank(s); word == "all" {
		return word, rest
	}
	var list []string
	for {
		word, rest := cutBlank(s)
		if word == "" || strings.Trim(word, "0123456789-,") != "" {
			return strings.Join(list, " "), s
		}
		list, s = append(list, word), rest
	}
}

// parseDump reads "memory FILE FROM TO".
func parseDump(c *Command) *Mistake {
	word, rest := cutBlank(c.Rest)
	if word != "memory" {
		return &Mistake{Text: "dump: only memory can be dumped"}
	}
	file, rest := cutBlank(rest)
	from, to := cutBlank(rest)
	if from == "" || to == "" {
		return &Mistake{Text: "dump memory: a file and two addresses are needed", Hint: "dump memory table.%r table table+10"}
	}
	c.Args.File, c.Args.From, c.Args.To = file, from, to
	return nil
}

// parseMemory reads "read" or "write", then its arguments.
func parseMemory(c *Command) *Mistake {
	word, rest := cutBlank(c.Rest)
	switch word {
	case "read":
		return parseMemoryRead(c, rest)
	case "write":
		c.Do = "memory write"
		return parseMemoryWrite(c, rest)
	}
	return &Mistake{Text: "memory: read or write?"}
}

// parseMemoryRead reads "ADDRESS COUNT".
func parseMemoryRead(c *Command, rest string) *Mistake {
	i := strings.LastIndexAny(rest, blanks)
	if i < 0 {
		return &Mistake{Text: "memory read: an address and a number of bytes are needed"}
	}
	n, m := number(c, rest[i+1:], 1)
	c.Args.Expr, c.Args.Count = strings.Trim(rest[:i], blanks), n
	return m
}

// parseMemoryWrite reads "ADDRESS = BYTES", each byte as two hexadecimal digits.
func parseMemoryWrite(c *Command, rest string) *Mistake {
	address, bytes, ok := cutLast(rest, '=')
	data, err := hex.DecodeString(strings.Join(strings.Fields(bytes), ""))
	if !ok || err != nil || len(data) == 0 || strings.Trim(address, blanks) == "" {
		return &Mistake{Text: "memory write: an address and bytes are needed", Hint: "memory write &x = 2a 00 00 00"}
	}
	c.Args.Expr, c.Args.Data = strings.Trim(address, blanks), data
	return nil
}
