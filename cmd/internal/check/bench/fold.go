// A structure of 100 fields on 4,096 simulated ranks, against its fields as 100 expressions.

package main

import (
	"fmt"
	"strings"

	"sdm/protocol"
)

func benchFold(b *bench) { b.runInside("fold") }

// fields is the number of fields of the structure.
const fields = 100

// fieldOf returns the expression of field i. Its value differs in all ranks, or in none.
func fieldOf(i int, differs bool) string {
	if differs {
		return fmt.Sprintf("rank + %d", i)
	}
	return fmt.Sprintf("%d", 1000+i)
}

// insideFold measures one print of the structure against a print of each field.
func insideFold(in *insider) {
	const ranks, servers = 4096, 64
	cases := []struct {
		what, name string
		differs    func(i int) bool
	}{
		{"one field different", "one", func(i int) bool { return i == fields/2 }},
		{"all different", "all", func(int) bool { return true }},
	}
	var script strings.Builder
	for _, c := range cases {
		var members []string
		for i := range fields {
			members = append(members, fmt.Sprintf("f%d = %s", i, fieldOf(i, c.differs(i))))
		}
		fmt.Fprintf(&script, "value %s = {%s}\n", c.name, strings.Join(members, ", "))
	}
	in.say("%d servers with %d simulated ranks", servers, ranks)
	c := startSimulated(ranks, servers, "binomial", script.String(), nil)
	c.launch("work")
	for _, x := range cases {
		in.say("structures, %s", x.what)
		var reply []protocol.Group
		const times = 9
		whole := medianOf(times, func() { reply = c.print("", x.name) })
		if n := len(reply); n != 1 || len(reply[0].Columns[0].Folds()) != 1 {
			fatal("fold", fmt.Errorf("%d answers of one shape", n))
		}
		separate := medianOf(times, func() {
			for i := range fields {
				c.print("", fieldOf(i, x.differs(i)))
			}
		})
		in.out.Encode(figure{What: "print of a structure of 100 fields, 4,096 ranks, " + x.what + ", against 100 prints", Unit: "ms",
			Ours: ms(whole), Floor: ms(separate), Times: 2})
		in.add("the reply, "+x.what, "KB", float64(length(reply))/1024, 0)
	}
	in.add("memory, at most, of all in one process", "MB", mb(peak()), 0)
}
