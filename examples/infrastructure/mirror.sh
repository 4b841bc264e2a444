# Run this in a clone of the provider's repository: sh examples/infrastructure/mirror.sh VERSION FOLDER. It needs Go and zip.
set -eu
version=${1:?a version, such as 0.1.0} mirror=${2:?a folder}

dir=$mirror/registry.terraform.io/stream-management/stream/
mkdir -p "$dir"
archives=
for platform in linux_amd64 darwin_arm64 windows_amd64; do
  program=bin/$platform/terraform-provider-stream_v$version
  case $platform in windows_*) program=$program.exe ;; esac
  CGO_ENABLED=0 GOOS=${platform%_*} GOARCH=${platform#*_} go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$program" .
  archive=terraform-provider-stream_${version}_$platform.zip
  rm -f "$dir$archive"
  zip -jqX "$dir$archive" "$program"
  archives="$archives${archives:+, }\"$platform\": {\"url\": \"$archive\"}"
done
echo "{\"archives\": {$archives}}" >"$dir$version.json"

# The index lists every version in the mirror.
versions=
for file in "$dir"[0-9]*.json; do
  versions="$versions${versions:+, }\"$(basename "$file" .json)\": {}"
done
echo "{\"versions\": {$versions}}" >"${dir}index.json"
