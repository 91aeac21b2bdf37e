# pull_test.sh - models of the hub, fetched from a small server on this machine that has every fault there is.
. "$CHECKS"

python3 "$ROOT/tests/support/checkpoint_files.py" made || exit 1
good=hub/models/t/good
mkdir -p $good/onnx
cp made/safetensors/config.json made/safetensors/model.safetensors $good
echo '{"a": 1}' > $good/tokenizer.json
echo '# Good' > $good/README.md
cp made/zip2/pytorch_model.bin $good
echo onnx > $good/onnx/model.onnx
: > $good/empty.txt
for name in cut busy gated wrong short more changed whole part commit loop nojson nosha unsized oddtag elsewhere evil large stall; do
    cp -R $good hub/models/t/$name
done
cp -R $good hub/models/t/sentence
mkdir hub/models/t/sentence/1_Pooling hub/models/t/sentence/2_Dense
for file in modules.json 1_Pooling/config.json 2_Dense/config.json; do echo "{\"$file\": 1}" > hub/models/t/sentence/$file; done
mkdir -p hub/models/t/pickled hub/models/t/shards hub/models/t/onnx
cp made/zip2/* hub/models/t/pickled
cp made/shards/* hub/models/t/shards
cp $good/onnx/model.onnx $good/config.json hub/models/t/onnx

python3 "$ROOT/tests/support/hub_server.py" hub > server.log 2>&1 &
server=$!
trap 'kill $server 2> /dev/null' EXIT
for i in 1 2 3 4 5 6 7 8 9 10; do [ -f hub/ports ] || sleep 0.5; done
check 'the server is there' test -f hub/ports
read -r port other < hub/ports

unset HF_TOKEN HUGGING_FACE_HUB_TOKEN HF_HUB_OFFLINE HF_TOKEN_PATH HUGGINGFACE_HUB_CACHE HF_HUB_CACHE XDG_CACHE_HOME HF_HUB_DOWNLOAD_TIMEOUT
export HF_ENDPOINT=http://127.0.0.1:$port HF_HOME=$PWD/home no_proxy='*' NO_PROXY='*'
commit=0123456789abcdef0123456789abcdef01234567
cache=home/hub/models--t--good
snapshot=$cache/snapshots/$commit

# ---- what is fetched, and where it goes

gives 0 "t/good at 0123456789ab: 3 files, 3 fetched" hologram pull t/good
same $snapshot/config.json $good/config.json
same $snapshot/model.safetensors $good/model.safetensors
check 'what a compile does not need is not fetched' test ! -e $snapshot/README.md -a ! -e $snapshot/pytorch_model.bin -a ! -e $snapshot/onnx
check 'the revision is noted' test "$(cat $cache/refs/main)" = $commit
sum=$(sha256sum < $good/model.safetensors | cut -d ' ' -f 1)
check 'files are links to contents' test "$(readlink $snapshot/model.safetensors)" = "../../blobs/$sum"
check 'nothing half is left' test -z "$(find home -name '*.incomplete')"
gives 0 "t/sentence at 0123456789ab: 5 files, 5 fetched" hologram pull t/sentence
check 'how vectors are pooled is fetched' test -f home/hub/models--t--sentence/snapshots/$commit/1_Pooling/config.json
check 'and no other folder' test ! -e home/hub/models--t--sentence/snapshots/$commit/2_Dense
requests=$(wc -l < hub/log)
gives 0 "3 files, 0 fetched" hologram pull hf:t/good@main
check 'nothing is fetched twice' test "$(wc -l < hub/log)" = $((requests + 1))
quiet hologram pull -q t/good
hologram pull --json t/good@$commit > said.json
json said.json model revision commit folder files name bytes fetched

gives 0 "1 file, 1 fetched" hologram pull t/good --include '*.onnx'
check 'links from folders lead back' test "$(readlink $snapshot/onnx/model.onnx)" = "../../../blobs/$(sha256sum < $good/onnx/model.onnx | cut -d ' ' -f 1)"
same $snapshot/onnx/model.onnx $good/onnx/model.onnx
gives 0 "2 files" hologram pull t/good --include '*.json' --include '*.md' --exclude 'token*'
gives 0 "1 file, 1 fetched (0 bytes)" hologram pull t/good --include empty.txt
gives 1 "no file that matches" hologram pull t/good --include '*.gguf'
gives 0 "3 files, 3 fetched" hologram pull t/good --output plain/here
same plain/here/model.safetensors $good/model.safetensors
check 'the folder has the files alone' test "$(ls plain/here | wc -l)" = 3 -a ! -L plain/here/config.json
gives 0 "3 files, 0 fetched" hologram pull t/good -o plain/here
echo spoilt > plain/here/config.json
gives 0 "3 files, 1 fetched" hologram pull t/good -o plain/here
HF_HUB_CACHE=$PWD/another gives 0 "another/models--t--pickled/snapshots/$commit" hologram pull t/pickled
gives 0 "2 files, 2 fetched" hologram pull t/pickled
gives 0 "4 files" hologram pull t/shards
gives 1 "it has model.onnx" hologram pull t/onnx
gives 0 "3 fetched" hologram pull t/renamed

# ---- models of commands

gives 0 "good.holo" hologram compile hf:t/good
check 'it is named after the model' test -s good.holo
gives 0 "last_hidden_state" hologram inspect hf:t/good@refs/pr/1
gives 0 "BertModel" hologram inspect hf:t/shards
gives 1 "no such model" hologram inspect hf:t/nowhere
gives 0 "last_hidden_state" hologram inspect $snapshot/
mv $snapshot/config.json kept && ln -s "$PWD/$good/config.json" $snapshot/config.json
gives 1 "leads out of the folder" hologram inspect $snapshot
mv kept $snapshot/config.json

# ---- the token

: > hub/log
gives 1 "the model is gated" hologram pull t/gated
gives 1 "accept them at $HF_ENDPOINT/t/gated, and set HF_TOKEN" hologram pull t/gated
HF_TOKEN=bad gives 1 "the model is gated" hologram pull t/gated
HF_TOKEN=good gives 0 "3 fetched" hologram pull t/gated
check 'the hub gets the token' grep -q '^hub GET .*token=good' hub/log
check 'another server was asked' grep -q '^other GET' hub/log
check 'another server does not get it' test -z "$(grep '^other' hub/log | grep -v 'token=- ')"
printf 'good\n' > home/token
rm -rf home/hub/models--t--gated
gives 0 "3 fetched" hologram pull t/gated
rm home/token

# ---- faults

: > hub/log
gives 0 "3 fetched" hologram pull t/cut
same home/hub/models--t--cut/snapshots/$commit/model.safetensors $good/model.safetensors
check 'it goes on where it was cut' grep -q '^other GET .*range=bytes=[1-9]' hub/log
gives 0 "3 fetched" hologram pull t/busy
HF_HUB_DOWNLOAD_TIMEOUT=1 gives 0 "3 fetched" hologram pull t/stall
same home/hub/models--t--stall/snapshots/$commit/model.safetensors $good/model.safetensors
gives 0 "3 fetched" hologram pull t/whole
same home/hub/models--t--whole/snapshots/$commit/model.safetensors $good/model.safetensors
gives 0 "3 fetched" hologram pull t/part
same home/hub/models--t--part/snapshots/$commit/model.safetensors $good/model.safetensors
gives 0 "3 fetched" hologram pull t/changed
check 'what changed is fetched anew' test "$(sha256sum < home/hub/models--t--changed/snapshots/$commit/model.safetensors)" != "$(sha256sum < $good/model.safetensors)"
mkdir -p home/hub/models--t--large/blobs
cat $good/model.safetensors $good/model.safetensors > home/hub/models--t--large/blobs/$sum.incomplete
gives 0 "3 fetched" hologram pull t/large
same home/hub/models--t--large/snapshots/$commit/model.safetensors $good/model.safetensors
rm -rf home/hub/models--t--large
mkdir -p home/hub/models--t--large/blobs
head -c 1000 $good/model.safetensors > home/hub/models--t--large/blobs/$sum.incomplete
: > hub/log
gives 0 "3 fetched" hologram pull t/large
check 'what a process left is continued' grep -q '^other GET .*range=bytes=1000-' hub/log
same home/hub/models--t--large/snapshots/$commit/model.safetensors $good/model.safetensors
gives 1 "model.safetensors: the checksum is wrong" hologram pull t/wrong
gives 1 "empty.txt: the checksum is wrong" hologram pull t/wrong --include empty.txt
gives 1 "more bytes came than were announced" hologram pull t/more
gives 1 "model.safetensors" hologram pull t/short
for name in wrong more short; do check "$name leaves nothing that looks right" test ! -e home/hub/models--t--$name/snapshots/$commit/model.safetensors; done
gives 1 "another commit" hologram pull t/commit
gives 1 "redirects again and again" hologram pull t/loop
gives 1 "it is not JSON" hologram pull t/nojson
gives 1 "it has no commit" hologram pull t/nosha
gives 1 "how large" hologram pull t/unsized --include model.safetensors
gives 1 "does not say what the file is" hologram pull t/oddtag
gives 1 "cannot be followed" hologram pull t/elsewhere
gives 0 "3 fetched" hologram pull t/evil
gives 1 "is refused" hologram pull t/evil --include '*evil.json'
gives 1 "is refused" hologram pull t/evil --include 'a?b.json'
gives 1 "is refused" hologram pull t/evil --include '*m.json'
check 'nothing was written elsewhere' test -z "$(find . -name 'evil*' -not -path './hub/*' -type f)"
gives 1 "no such model" hologram pull t/nothing
gives 1 "no such revision" hologram pull t/good@v9

# ---- names

for name in /etc/passwd ../x t/../x t/x/y t/ -- a--b/c 't/a b' t/x@../y t/x@/y t/x@a..b/../c; do gives 1 "is not the name of" hologram pull -- "$name"; done
gives 2 "is missing" hologram pull
HF_ENDPOINT=ftp://x gives 1 "HF_ENDPOINT" hologram pull t/good

# ---- two at once, and without a hub

rm -rf home/hub/models--t--good
hologram pull -q t/good & first=$!
hologram pull -q t/good
check 'both succeed' wait $first
same $snapshot/model.safetensors $good/model.safetensors

export HF_HUB_OFFLINE=1
gives 0 "from the cache" hologram pull t/good
gives 0 "last_hidden_state" hologram inspect hf:t/good
gives 1 "is not in the cache" hologram pull t/nothing
unset HF_HUB_OFFLINE
kill $server
wait $server 2> /dev/null
gives 0 "using what the cache has" hologram pull t/good
gives 1 "check the connection" hologram pull t/nothing

# ---- without libcurl

mkdir none
for file in libcurl.so.4 libcurl-gnutls.so.4; do echo none > none/$file; done
LD_LIBRARY_PATH=$PWD/none gives 1 "needs libcurl" hologram pull t/good
LD_LIBRARY_PATH=$PWD/none gives 1 "apt install libcurl4" hologram pull t/good
LD_LIBRARY_PATH=$PWD/none gives 0 "" hologram help pull
