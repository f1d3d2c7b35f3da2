// The command values: values with their types, and elements of arrays as bytes.

package sim

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/digest"
)

// takeValues gives values as the gdb back end does; all numbers are long.
func (m *machine) takeValues(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	level, bad := m.level(s, a)
	if bad != nil {
		return answer{}, bad
	}
	sc := m.scope(s, level)
	var body protocol.Values
	var cells []cell
	for i, expr := range a.Exprs {
		info, n := protocol.ValueInfo{Expr: expr, Type: "long"}, strconv.Itoa(i)
		if array, ok := sc.arrayNamed(expr); ok {
			more, bad := sc.takeArray(array, a.Count, &info, n)
			if bad != nil {
				return answer{}, bad
			}
			cells = append(cells, more...)
		} else if v, bad := evaluate(expr, sc); bad != nil {
			info.Type, info.Trouble = "", bad.Message
		} else {
			cells = append(cells, cell{"value." + n, v.String()})
		}
		body.Values = append(body.Values, info)
	}
	return answer{kind: protocol.KindResult, body: canonical.JSON(body), cells: sorted(cells)}, nil
}

// takeArray gives elements of an array, at most so many unless most is 0.
func (s scope) takeArray(array, most int, info *protocol.ValueInfo, n string) ([]cell, *protocol.Fault) {
	count := s.globals[array].Elements
	info.Type, info.Kind, info.Size = fmt.Sprintf("long [%d]", count), protocol.SignedKind, elementSize
	info.Shape, info.Stride = protocol.Shape{Dims: []protocol.Dim{{Count: count}}}, 1
	if most > 0 {
		info.Stride = protocol.StrideOf(count, most)
	}
	var data []byte
	sum, stat := digest.New(), protocol.ArrayStat{Elements: count}
	var least, greatest int64
	for i := range count {
		v, bad := s.element(array, int64(i))
		if bad != nil {
			return nil, bad
		}
		b := binary.LittleEndian.AppendUint64(nil, uint64(v.number))
		sum.Add(b)
		if i%info.Stride == 0 {
			data = append(data, b...)
		}
		stat.Sum += float64(v.number)
		if i == 0 || v.number < least {
			least, stat.MinAt = v.number, i
		}
		if i == 0 || v.number > greatest {
			greatest, stat.MaxAt = v.number, i
		}
	}
	stat.Min, stat.Max = strconv.FormatInt(least, 10), strconv.FormatInt(greatest, 10)
	return []cell{
		{"data." + n, base64.StdEncoding.EncodeToString(data)}, {"sum." + n, digest.Text(sum.Sum())},
		{"stat." + n, string(canonical.JSON(stat))},
	}, nil
}
