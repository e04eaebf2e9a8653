// Package safetensors reads and writes files of tensors: eight bytes with the length of a JSON header, the header, the
// tensors, little-endian and row-major.
package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"sort"
)

// A Tensor has its numbers as they lie in the file.
type Tensor struct {
	Kind  string
	Shape []int
	Bytes []byte
}

// A File is its tensors by name.
type File map[string]Tensor

type entry struct {
	Kind    string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

var sizes = map[string]int{"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2}

// Read returns the tensors of a file; what is damaged is an error that names the file.
func Read(path string) (File, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(content) < 8 || binary.LittleEndian.Uint64(content) > uint64(len(content)-8) {
		return nil, fmt.Errorf("%s: expected a header of the length it says, got damage", path)
	}
	end := 8 + int(binary.LittleEndian.Uint64(content))
	header, data := map[string]json.RawMessage{}, content[end:]
	if err := json.Unmarshal(content[8:end], &header); err != nil {
		return nil, fmt.Errorf("%s: expected a header of safetensors, got damage: %w", path, err)
	}
	delete(header, "__metadata__") // texts about the file
	file := File{}
	for name, text := range header {
		var e entry
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&e); err != nil {
			return nil, fmt.Errorf("%s: expected a header of safetensors, got damage: %s: %w", path, name, err)
		}
		size, known := sizes[e.Kind]
		for _, axis := range e.Shape {
			if axis < 0 || (axis > 0 && size > len(data)/axis) {
				known = false
				break
			}
			size *= axis
		}
		first, last := e.Offsets[0], e.Offsets[1]
		if !known || first < 0 || last > len(data) || last-first != size {
			return nil, fmt.Errorf("%s: expected %s within the file, got damage", path, name)
		}
		file[name] = Tensor{e.Kind, e.Shape, data[first:last]}
	}
	return file, nil
}

// Write writes the tensors in the order of their names.
func (f File) Write(path string) error {
	names := make([]string, 0, len(f))
	for name := range f {
		names = append(names, name)
	}
	sort.Strings(names)
	header, data := map[string]entry{}, []byte{}
	for _, name := range names {
		t := f[name]
		header[name] = entry{t.Kind, t.Shape, [2]int{len(data), len(data) + len(t.Bytes)}}
		data = append(data, t.Bytes...)
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	content := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	return os.WriteFile(path, append(append(content, text...), data...), 0o666)
}

// Number is what a tensor may hold.
type Number interface {
	float32 | int32 | int64 | uint64
}

func kindOf[T Number]() string {
	var one T
	switch any(one).(type) {
	case float32:
		return "F32"
	case int32:
		return "I32"
	case int64:
		return "I64"
	}
	return "U64"
}

// Get returns a tensor's numbers; that it lacks or is of another type is an error.
func Get[T Number](f File, name string) ([]T, error) {
	t, known := f[name]
	if !known || t.Kind != kindOf[T]() {
		return nil, fmt.Errorf("expected %s of type %s, got a file without it", name, kindOf[T]())
	}
	values := make([]T, len(t.Bytes)/sizes[t.Kind])
	return values, binary.Read(bytes.NewReader(t.Bytes), binary.LittleEndian, values)
}

// Put stores numbers under a name.
func Put[T Number](f File, name string, shape []int, values []T) {
	var content bytes.Buffer
	if err := binary.Write(&content, binary.LittleEndian, values); err != nil {
		panic(err) // numbers of a fixed size, into memory
	}
	f[name] = Tensor{kindOf[T](), shape, content.Bytes()}
}
