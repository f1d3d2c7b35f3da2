package sampler

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// resident returns the files of images of which something is in the memory of this program.
func (c *Sampler) resident(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	for key, s := range c.images {
		if s.file == nil {
			continue
		}
		_, mapping, found := strings.Cut(string(text), fmt.Sprintf("\n%x-", uintptr(unsafe.Pointer(&s.file[0]))))
		if !found {
			t.Fatalf("%s is not mapped", key)
		}
		_, size, _ := strings.Cut(mapping, "\nRss:")
		if kb := strings.Fields(size)[0]; kb != "0" {
			all = append(all, key+" "+kb)
		}
	}
	return all
}

// TestRest has a sampler drop what only samples use, and then find all names once more.
func TestRest(t *testing.T) {
	p := start(t, "-g", "-O1")
	c := New("")
	take := func() []string {
		return functions(c.Take([]int{p.Process.Pid}, Options{By: "line", AllThreads: true}).Samples[0])
	}
	before := take()
	c.Unload()
	if len(before) != 2 || len(c.images) < 2 {
		t.Fatalf("%d threads, %d images", len(before), len(c.images))
	}
	if all := c.resident(t); len(all) > 0 {
		t.Errorf("after the first sample these files are in memory: %v", all)
	}
	for _, again := range []bool{false, true} {
		take()
		c.rest()
		if all := c.resident(t); len(all) > 0 {
			t.Errorf("these files are in memory: %v", all)
		}
		for key, s := range c.images {
			if len(s.kept) > 0 || s.lines != nil {
				t.Errorf("%s keeps %d pages, lines %v", key, len(s.kept), s.lines)
			}
			if again {
				clear(s.places)
				clear(s.around)
			}
		}
		if after := take(); !slices.Equal(before, after) {
			t.Errorf("before\n%s\nafter, all names once more: %v\n%s", strings.Join(before, "\n"), again, strings.Join(after, "\n"))
		}
	}
}
