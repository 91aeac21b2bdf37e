# transcribe_test.sh - hologram transcribe: a small model with random weights hears sounds that are made here.
. "$CHECKS"

gives 0 'transcribe writes what whole runs give' python3 "$ROOT/tests/support/speech_check.py" "$HOLOGRAM" made
gives 0 'sound.hop' hologram inspect made/speech.holo
hologram transcribe made/speech.holo made/short.wav made/long.wav --json > both.json
json both.json file sounds
gives 0 '"language": "' cat both.json
gives 0 '"segments"' cat both.json
check 'several windows' python3 -c '
import json
short, long = json.load(open("both.json"))["sounds"]
pieces = long["segments"]
times = [t for p in pieces for t in (p["start"], p["end"])]
assert short["windows"] == 1 and long["windows"] >= 8 and long["sound_seconds"] == 1 and short["language"] in ("en", "de")
assert times == sorted(times) and times[-1] <= 1.2, times'
gives 0 '[00:00.000 --> 00:00.100]' hologram transcribe made/speech.holo made/short.wav --timestamps
gives 0 'made/fast.wav:' hologram transcribe made/model made/fast.wav made/short.wav --language de --task translate
hologram transcribe made/speech.holo made/short.wav --threads 1 --timestamps > one.txt
hologram transcribe made/speech.holo made/short.wav --threads 2 --timestamps > two.txt
same one.txt two.txt
gives 1 "does not know the language 'xx'" hologram transcribe made/speech.holo made/short.wav --language xx
gives 2 'task' hologram transcribe made/speech.holo made/short.wav --task sing
printf 'RIFF    WAVEfmt ' > cut.wav
gives 1 'it has no format' hologram transcribe made/speech.holo cut.wav
gives 1 'not a WAV file' hologram transcribe made/speech.holo both.json
gives 1 'nobody.wav' hologram transcribe made/speech.holo nobody.wav
python3 "$ROOT/tests/support/pair_maker.py" t5 pair
gives 1 'does not listen to sounds' hologram transcribe pair made/short.wav
