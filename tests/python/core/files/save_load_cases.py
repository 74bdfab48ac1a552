"""Files that PyTorch 2.13 wrote: an archive and the format before it.

zlib, then base 85. What they hold: see test_file_formats.py.
"""

ARCHIVE = (
    "c-o~^OK;;;6uwDZCu5*59_<t;ZzcnsG<IIibUNv{g9oq#t*enDSVXSlX$)?hW8Va(5>l"
    "m6W(unr2_aU%h6S@=3wwS63wDSN3xtHkf(^Uj-fK6tU8Nb?t2ozj&Ue1=oO{mkx|-q;%"
    "4E=yHHoH??iwwtXD&8%tmir(+KN1m-ixfgq+vL=Z5r5e+Me*P+caIXdDSwo0O-61iEKS"
    "VoavA>utU7%8eMGJp3rd3t*&J^8`x}nj@#%-0;ICpdYTw}#8Tfjf%74PVmmtC^dAZ^#v"
    "JB>ucydvbh?mMc?_8i6{&n5&Zvn#2%okn`6Cz})!;D(*n;sEA!u=}u@>KAkcka7sV4g{"
    "Ng-1{WE#Wc8a%-uZFo{mu{#f*swc_*(|0h#Xt%6wnEmX`L9SMr6^66dYXACA-r2tcbL^"
    "=BPy56{G;7XI$2LEX2K5Xx72#Q;EP-L3217(WN57u;mA&u@yjbU`L#O=#ytMCOcv*v27"
    "_bAc4oPoEcl8|;o2~%o4&rAJ39^JMiQzouB3XEia=q?zEnv8yL2jS@SiA#y4Mc`&f)s>"
    "tgX$N{0u)$6nr07*!C&OwGDuLR!3mZ7P|;wC<<Q%OYGAl&?Gm$#<P=i3VYv^NG+6O%Fk"
    "FrtRc(XOcVTrz85IP$a+vH~P)fq}Hon<0n}dAI%v}N2h<gsh)gT9N&>Sd!4z2|vyH=aU"
    "`6h<9G<dt4TUXPW?>E)XKSU|L)`zyx49W~zD0jngcXZt7nXX4#MUgqyNh0<3!{5K&qI&"
    "2x+}j+g9C`}^Yv{JM-QF?VSdj~{)_kZ{E>Z!tkKj+5_vEnxrciAlVCyC}9op=QynGVgg"
    "JoM7+a}e}U-|tkPgwY4HH@Rnk*TzpSLBPQ5a4^=tI;MVA9C%H>zh@oXy)!8_h!i-vm+E"
    "OL=}mOoJ9}M?{ibW-nX?JCCH56yA<V<6nP1qJbuc*SEKxQH~3#pz+X5Ge*!&tK)G+<|L"
    "q(dZrril6QK$mG}5W+uOLwNpTF9^KDz$rk#yLAEOgIwEz*IzI(_>!tfnI8{-+o*U#TpW"
    "rHWLoRI5v+qF9znqA2DI<zgvcDpf^E%IAw>g{oZn>;12@L`RmXOi-}{o#BBrc|>{qJsw"
    "Ag2hdCext2o1Mp)cQc!<nJoZJgLIWoE8e!_!bD&l9FLq`Wt93Jl4@d*424#j3i92@SyC"
    "^kD5!-{cixO<}5FXLD#jty6T6g$huu!T4_T)Pty?B^lukTVOH)O<A8X*8nP*HxZhIB1R"
    "3g#l8C?YENt{$twT369+@2L}FIZ;bab0<-sR{{uRqX37"
)
LEGACY = (
    "c-n<i+fvg|6iw1lBnskPyyCrhsilP4dMgTo8bt}?OkSK$Nsly4NV<|!MwwxzFO|wS_~4"
    "^{hhO6#=nONsa}rRTGG?07oSmJ$)?RC$ma?I_o1dqD4KICtJ(O)JFMp(HU4xXd1|>;q1"
    "U~m|->s~$Aar~WG9_63^u~2KcUgsbHK*!9=~x;C`G*Fpgw84pky?YAv3e*N*8PB^$55;"
    "k?HrFIZK#$S)$qMV^crfjNtialxXk8+5^Ar48Vgu$%CWfyX~cw_v1Iz93dQDrVAr#iCU"
    "@LWs|0MJ>A1BDXI|(Bm6g1PR3>BfM!=L=U1U(>Pqb;*uk!ggsG-Lipq!GfkLPl^LP;;="
    "^&HZIqupo{t@JF%zBxlO(rxq^avR#GdPHSE#{m=lg3kg5>I7F;>s`wotjA>r=M2SA+Bg"
    ")IIUJWc!g18ZF;T|DaU&(3LY%M^`v3k7Ck2-UXAwgieNu8wh%Am%Gv%LgWVW-8(;{l)O"
    "iU)}chX;Oxa|Gzw$E<!)Jvs&j+XI45$A}fOgzs=?GnY|Xt@ycytsx-!Y$kPmT<Wfa$GT"
    "SRUkHSZ4Wyd)u6h}I14mn{#8gIlT1auh!H|o2>E)1ObXqIkZ;Dww>YvUZg<2cw~kR0c>"
    "!C)SkmIVsJGFA23?3%V=EX>UeU8-Q^SQFOYgK%G*J@zhO4-nB+k>kYPd%Zr9R?*8xKr8"
    "jB_~3ds;h@So>&BP-^1we+F|*!{i@xvdM62Z@lQx)OP%t+NDyVsOJhgo)DNyVAF|8Gm%"
    "P9W0jsIZ8Yg*MM^y9FigCNj?~-e7<aK-?&gHj4LH@Ub(Ll1?Rk`1<!CCEUHev9O?I-hw"
    "Uw6szT$lP(cPl^%fxSlBr72"
)
