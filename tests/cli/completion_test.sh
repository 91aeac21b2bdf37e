# completion_test.sh - completion for shells and manual pages, made of the tables that parse the options: nothing is missing in them.
. "$CHECKS"

commands=$(hologram help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
check 'there are commands' test "$(echo "$commands" | wc -l)" -ge 15
for shell in bash zsh fish; do hologram completion $shell > complete.$shell; done
hologram help --man | sed 's/\\-/-/g' > hologram.1
for command in $commands; do
    for shell in bash zsh fish; do check "$shell completes $command" grep -qw -e "$command" complete.$shell; done
    check "hologram(1) tells of $command" grep -q "hologram $command" hologram.1
    hologram help --man "$command" | sed 's/\\-/-/g' > page.1
    check "hologram-$command(1) has a title" grep -q "^hologram-$command - " page.1
    hologram help "$command" | sed -n '/^options:/,/^$/s/^  *\(-[a-zA-Z], \)\{0,1\}--\([a-z-]*\).*/\2/p' > options
    check "$command has options" test -s options
    sed -n "/^    $command)/,/;;/p" complete.bash > part.bash
    sed -n "/^    $command)/,/;;/p" complete.zsh > part.zsh
    grep "from $command'" complete.fish > part.fish
    while read -r option; do
        check "the page of $command has --$option" grep -qF -e "--$option" page.1
        check "bash completes $command --$option" grep -qw -e "--$option" part.bash
        check "zsh completes $command --$option" grep -qw -e "--$option" part.zsh
        check "fish completes $command --$option" grep -qw -e "-l $option" part.fish
    done < options
done
check 'bash completes types of weights' grep -q "compgen -W 'int8 int4 f16 " complete.bash
check 'bash completes kinds of scales' grep -q "compgen -W 'static dynamic'" complete.bash
gives 2 "did you mean 'fish'" hologram completion fis
gives 2 'the arguments are missing: hologram completion bash|zsh|fish' hologram completion
gives 2 "did you mean 'compile'" hologram help compil
for setting in threads numeric seconds color; do check "hologram(1) tells of $setting" grep -qx ".B $setting" hologram.1; done
if command -v groff > /dev/null; then
    check 'pages are good roff' sh -c 'for c in "" compile atlas; do "$HOLOGRAM" help --man $c | groff -man -ww -Tascii -z; done 2>&1 | tee told; [ ! -s told ]'
fi

# What each shell makes of it.
if command -v zsh > /dev/null; then check 'zsh reads it' zsh -n complete.zsh; fi
if command -v fish > /dev/null; then check 'fish reads it' fish --no-execute complete.fish; fi
if command -v bash > /dev/null; then
    cat > try.bash <<'BASH'
. ./complete.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_hologram
echo "${COMPREPLY[*]}"
BASH
    touch model.onnx
    completes() { # EXPECTED WORDS...
        _want=$1
        shift
        check "bash: $*" test "$(bash try.bash "$@")" = "$_want"
    }
    completes 'bench' hologram ben
    completes '--quantize --quiet' hologram compile --qu
    completes 'fused exact bf16 tf32 f16' hologram compile --numeric ''
    completes 'exact' hologram run x.holo --numeric = ex
    completes 'model.onnx' hologram inspect mod
    completes 'model.onnx' hologram run x.holo --input x = mod
    completes 'run new bench list' hologram kernel ''
    completes 'nchw nhwc' hologram run x.holo --layout ''
    completes 'fold' hologram compile --disable fo
    completes 'import' hologram compile --dump imp
    completes '' hologram run x.holo --threads ''
    completes 'compile compare completion' hologram help comp
    completes 'holo asm json' hologram-compile --emit ''
fi
