// Command protogen compiles the .proto files of one folder to Go: the types with
// protoc-gen-go, and their codecs (codec.go). Generating needs only the Go toolchain, not
// protoc. Run it through go generate, in the folder of the .proto files:
//
//	go run atelier/actors/internal/protogen
//
// These files can import other actors' .proto files by file name only.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run() error {
	names, err := filepath.Glob("*.proto")
	if err != nil {
		return err
	}
	sort.Strings(names)
	req, err := compile(names)
	if err != nil {
		return err
	}
	for _, generate := range []func(*pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error){messages, codecs} {
		out, err := generate(req)
		if err != nil {
			return err
		}
		for _, f := range out {
			if err := os.WriteFile(f.GetName(), []byte(f.GetContent()), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func compile(names []string) (*pluginpb.CodeGeneratorRequest, error) {
	// The .proto files of a package are in its folder, or in a subfolder whose name ends with pb.
	from := []string{"."}
	for _, place := range []string{"../*/*.proto", "../*/*pb/*.proto", "../../*/*.proto", "../../*/*pb/*.proto"} {
		names, err := filepath.Glob(place)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			from = append(from, filepath.Dir(name))
		}
	}
	c := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: from}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(context.Background(), names...)
	if err != nil {
		return nil, err
	}
	req := &pluginpb.CodeGeneratorRequest{FileToGenerate: names, Parameter: proto.String("paths=source_relative")}
	// Plugins expect each file after its dependencies.
	seen := map[string]bool{}
	var add func(fd *descriptorpb.FileDescriptorProto)
	byName := map[string]*descriptorpb.FileDescriptorProto{}
	for _, f := range files {
		byName[f.Path()] = protodesc.ToFileDescriptorProto(f)
		for i := range f.Imports().Len() {
			imported := f.Imports().Get(i).FileDescriptor
			byName[imported.Path()] = protodesc.ToFileDescriptorProto(imported)
		}
	}
	add = func(fd *descriptorpb.FileDescriptorProto) {
		if seen[fd.GetName()] {
			return
		}
		seen[fd.GetName()] = true
		for _, dep := range fd.GetDependency() {
			add(byName[dep])
		}
		req.ProtoFile = append(req.ProtoFile, fd)
	}
	for _, n := range names {
		add(byName[n])
	}
	return req, nil
}

// messages generates the types.
func messages(req *pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	in, err := proto.Marshal(req)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "tool", "protoc-gen-go")
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var resp pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &resp); err != nil {
		return nil, err
	}
	if resp.Error != nil {
		return nil, fmt.Errorf("%s", resp.GetError())
	}
	return resp.File, nil
}
