// draw_html.c - pictures as one self-contained page: a tab for each, which you can move, zoom and search.

#include "draw.h"

static const char style[] =
    "html,body{margin:0;height:100%;overflow:hidden;background:#fff;font:14px system-ui,sans-serif;color:#1c2430}"
    "header{display:flex;gap:8px;align-items:center;padding:8px 12px;background:#fff;border-bottom:1px solid #dfe3ea}"
    "header b{margin-right:8px}button{border:1px solid #cfd6e0;background:#fff;border-radius:6px;padding:5px 12px;"
    "font:inherit;cursor:pointer}button.on{background:#26303f;color:#fff;border-color:#26303f}"
    "input{border:1px solid #cfd6e0;border-radius:6px;padding:5px 10px;font:inherit;width:220px}"
    "#found{color:#69758a;font-size:12px}main{position:absolute;inset:48px 0 0 0}"
    "main svg{width:100%;height:100%;display:none;cursor:grab}main svg.on{display:block}"
    "main svg:active{cursor:grabbing}.b{cursor:pointer}.b.hit rect{stroke:#e11d48;stroke-width:3}"
    ".b.at rect{stroke:#e11d48;stroke-width:4}.searching .b:not(.hit){opacity:.35}"
    "#about{position:absolute;right:12px;top:60px;max-width:380px;max-height:70%;overflow:auto;background:#fff;"
    "border:1px solid #dfe3ea;border-radius:8px;box-shadow:0 4px 18px #0002;padding:10px 14px;white-space:pre-wrap;"
    "font-size:12.5px;display:none;overflow-wrap:anywhere}#about:first-line{font-weight:600;font-size:15px}";

static const char script[] =
    "const $=s=>[...document.querySelectorAll(s)],pages=$('main svg'),tabs=$('button.tab'),about=$('#about')[0];\n"
    "const find=$('#find')[0],found=$('#found')[0];let page=0,hits=[],hit=0;\n"
    "const views=pages.map(p=>{const[w,h]=[+p.dataset.w,+p.dataset.h];return{x:0,y:0,w,h,page:p}});\n"
    "const show=v=>v.page.setAttribute('viewBox',[v.x,v.y,v.w,v.h].join(' '));\n"
    "function size(v){const r=$('main')[0].getBoundingClientRect();v.w=r.width/v.s;v.h=r.height/v.s}\n"
    "function fit(v){const r=$('main')[0].getBoundingClientRect(),w=+v.page.dataset.w;\n"
    " const s=Math.max(.7,Math.min(1.3,r.width/w)),b=v.page.querySelector('.b rect');v.s=s;size(v);\n"
    " v.x=v.w>=w||!b?(w-v.w)/2:+b.getAttribute('x')+b.getAttribute('width')/2-v.w/2;v.y=0;show(v)}\n"
    "function turn(i){page=i;pages.forEach((p,k)=>p.classList.toggle('on',k==i));\n"
    " tabs.forEach((t,k)=>t.classList.toggle('on',k==i));search()}\n"
    "function zoom(v,f,cx,cy){v.x=cx-(cx-v.x)*f;v.y=cy-(cy-v.y)*f;v.s/=f;size(v);show(v)}\n"
    "const at=(v,e)=>{const r=v.page.getBoundingClientRect();\n"
    " return[v.x+(e.clientX-r.left)/r.width*v.w,v.y+(e.clientY-r.top)/r.height*v.h]};\n"
    "views.forEach(v=>{let last=null;const p=v.page;\n"
    " p.onwheel=e=>{e.preventDefault();zoom(v,Math.exp(e.deltaY*.0015),...at(v,e))};\n"
    " p.onpointerdown=e=>{last=e;p.setPointerCapture&&e.target==p&&p.setPointerCapture(e.pointerId)};\n"
    " p.onpointermove=e=>{if(!last||!e.buttons)return;const k=v.w/p.getBoundingClientRect().width;\n"
    "  v.x-=(e.clientX-last.clientX)*k;v.y-=(e.clientY-last.clientY)*k;last=e;show(v)};\n"
    " p.onpointerup=()=>last=null;\n"
    " p.onclick=e=>{const b=e.target.closest('.b');about.style.display=b?'block':'none';\n"
    "  if(b)about.textContent=b.querySelector('title').textContent}});\n"
    "function search(){const t=find.value.trim().toLowerCase(),p=pages[page];\n"
    " p.classList.toggle('searching',t!='');hits=[];hit=0;\n"
    " p.querySelectorAll('.b').forEach(b=>{b.classList.remove('at');\n"
    "  const y=t!=''&&b.querySelector('title').textContent.toLowerCase().includes(t);\n"
    "  b.classList.toggle('hit',y);if(y)hits.push(b)});\n"
    " found.textContent=t==''?'':hits.length+' found';if(hits.length)go(0)}\n"
    "function go(i){hits[hit]&&hits[hit].classList.remove('at');hit=(i+hits.length)%hits.length;\n"
    " const b=hits[hit],r=b.querySelector('rect'),v=views[page];b.classList.add('at');\n"
    " found.textContent=(hit+1)+' of '+hits.length;\n"
    " v.x=+r.getAttribute('x')+r.getAttribute('width')/2-v.w/2;v.y=+r.getAttribute('y')-v.h/2;show(v)}\n"
    "tabs.forEach((t,i)=>t.onclick=()=>turn(i));find.oninput=search;\n"
    "find.onkeydown=e=>{if(e.key=='Enter'&&hits.length)go(hit+(e.shiftKey?-1:1))};\n"
    "document.onkeydown=e=>{if(e.key=='/'&&document.activeElement!=find){e.preventDefault();find.focus()}\n"
    " if(e.key=='Escape'){find.value='';search();about.style.display='none'}};\n"
    "views.forEach(fit);turn(0);addEventListener('resize',()=>views.forEach(v=>{size(v);show(v)}));\n";

void picture_write_html(FILE *out, Picture *const *pictures, int count)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\"><title>",
          out);
    xml_text(out, pictures[0]->title, 80);
    fprintf(out, "</title>\n<style>%s\n%s</style></head><body>\n<header><b>Hologram</b>", style, draw_style);
    for (int i = 0; i < count; i++) {
        fputs("<button class=\"tab\">", out);
        xml_text(out, pictures[i]->title, 60);
        fputs("</button>", out);
    }
    fputs(
        "<input id=\"find\" placeholder=\"search: /\" aria-label=\"search\"><span id=\"found\"></span></header>\n<main>\n",
        out);
    for (int i = 0; i < count; i++) {
        fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" data-w=\"%.0f\" data-h=\"%.0f\">\n", pictures[i]->width,
                pictures[i]->height);
        draw_picture(out, pictures[i]);
        fputs("</svg>\n", out);
    }
    fprintf(out, "</main><div id=\"about\"></div>\n<script>\n%s</script></body></html>\n", script);
}
